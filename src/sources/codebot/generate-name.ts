import { randomInt } from "node:crypto";

const ADJECTIVES = [
  ...["amber", "ample", "bold", "brave", "brisk", "calm", "candid", "cheery", "civil", "clear", "deft", "early"],
  ...["fair", "fleet", "fond", "fresh", "frank", "glad", "grand", "hardy", "honest", "light", "loyal", "mild"],
  ...["neat", "patient", "polite", "ready", "sober", "steady", "sunny", "witty", "young", "zesty"],
];

const GERUNDS = [
  ...["asking", "bending", "binding", "building", "carving", "climbing", "counting", "crafting", "dreaming", "folding"],
  ...["forging", "growing", "hiking", "joining", "landing", "leaping", "lifting", "listening", "mapping", "mending"],
  ...["moving", "pacing", "planting", "polishing", "roaming", "rowing", "sewing", "sifting", "skating", "sketching"],
  ...["spinning", "tracing", "turning", "weaving", "wandering", "yawning"],
];

const NOUNS = [
  ...["acorn", "anchor", "badger", "beacon", "birch", "bridge", "brook", "canyon", "cedar", "comet", "delta"],
  ...["dune", "ember", "falcon", "fern", "glacier", "heron", "hill", "lantern", "lichen", "maple", "marsh"],
  ...["otter", "path", "pine", "reef", "river", "shore", "thistle", "tower", "whale", "willow"],
];

/** `<adjective>-<gerund>-<noun>`, for plan slugs and goal ids, never for session names (codebot.md §9). */
export function generateName(): string {
  return `${pick(ADJECTIVES)}-${pick(GERUNDS)}-${pick(NOUNS)}`;
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] ?? "";
}

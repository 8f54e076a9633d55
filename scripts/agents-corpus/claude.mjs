// One transcript of Claude Code, line by line, for as long as somebody reads on (agents.md §1).
import { code, picture, resultLength, uuid, words } from "./text.mjs";

const MODELS = ["claude-sonnet-4-6", "claude-opus-4-6", "claude-haiku-4-5"];
const TOOLS = [
  ["Read", (random) => ({ file_path: `/home/dana/code/src/part-${random.below(90)}.ts`, limit: 400 })],
  ["Bash", (random) => ({ command: `npm test -- part-${random.below(90)}`, description: "Run the tests" })],
  [
    "Edit",
    (random) => ({
      file_path: `/home/dana/code/src/part-${random.below(90)}.ts`,
      old_string: code(random, 300),
      new_string: code(random, 400),
      replace_all: false,
    }),
  ],
  ["Grep", (random) => ({ pattern: `part${random.below(90)}`, output_mode: "content" })],
];

/** `agent`: the transcript of this sub-agent of the session. */
export function claudeLines({ random, begins, brief, id, folder, agent = null }) {
  const cwd = `/home/dana/code/project-${folder}`;
  const name = agent === null ? id : `${id}/subagents/agent-${agent}`;
  const path = `projects/-home-dana-code-project-${folder}/${name}.jsonl`;
  return { path, lines: transcript({ random, begins, brief, id, cwd, agent }) };
}

function* transcript({ random, begins, brief, id, cwd, agent }) {
  const model = MODELS[random.below(MODELS.length)];
  let at = begins;
  let parent = null;
  let cached = 12_000;
  const common = (type) => {
    const row = {
      parentUuid: parent,
      isSidechain: agent !== null,
      userType: "external",
      entrypoint: "cli",
      cwd,
      sessionId: id,
      version: "2.1.332",
      gitBranch: "main",
      ...(agent === null ? {} : { agentId: agent }),
      type,
      uuid: uuid(random),
      timestamp: new Date(at).toISOString(),
    };
    parent = row.uuid;
    return row;
  };
  const line = (record, turnEnds = false) => ({ text: JSON.stringify(record), time: at, turnEnds });
  const step = () => {
    at += 1000 + random.below(20_000);
  };
  for (let turn = 0; ; turn += 1) {
    at += 30_000 + random.below(600_000);
    const asked = words(random, 60 + random.below(400));
    if (agent === null)
      yield line({
        type: "queue-operation",
        operation: "enqueue",
        timestamp: new Date(at).toISOString(),
        sessionId: id,
        content: asked,
      });
    if (agent === null)
      yield line({
        type: "queue-operation",
        operation: "dequeue",
        timestamp: new Date(at).toISOString(),
        sessionId: id,
      });
    const withPicture = !brief && random.next() < 0.02;
    const content = withPicture
      ? [
          { type: "text", text: asked },
          {
            type: "image",
            source: { type: "base64", media_type: "image/png", data: picture(random, 40_000 + random.below(400_000)) },
          },
        ]
      : asked;
    yield line({
      ...common("user"),
      message: { role: "user", content },
      permissionMode: "default",
      origin: { kind: "human" },
      promptSource: "typed",
    });
    if (turn === 0) {
      yield line({
        ...common("attachment"),
        attachment: { type: "skill_listing", content: words(random, brief ? 300 : 3000) },
      });
      if (agent === null) yield line({ type: "ai-title", aiTitle: words(random, 40).trim(), sessionId: id });
    }
    const steps = 1 + random.below(brief ? 3 : 8);
    for (let n = 0; n < steps; n += 1) {
      step();
      const last = n === steps - 1;
      const message = `msg_01${random.hex(20)}`;
      const request = `req_01${random.hex(20)}`;
      const output = 50 + random.below(1500);
      const writes = 200 + random.below(4000);
      const usage = {
        input_tokens: 4 + random.below(10),
        cache_creation_input_tokens: writes,
        cache_read_input_tokens: cached,
        output_tokens: output,
        service_tier: "standard",
        cache_creation: { ephemeral_5m_input_tokens: writes, ephemeral_1h_input_tokens: 0 },
      };
      cached = Math.min(180_000, cached + writes);
      const reply = (block, stop) => ({
        ...common("assistant"),
        message: {
          id: message,
          type: "message",
          role: "assistant",
          model,
          content: [block],
          stop_reason: stop,
          stop_sequence: null,
          usage,
        },
        requestId: request,
      });
      if (random.next() < 0.5) {
        yield line(
          reply(
            {
              type: "thinking",
              thinking: words(random, 200 + random.below(900)),
              signature: picture(random, 300 + random.below(600)),
            },
            null,
          ),
        );
      }
      if (last) {
        yield line(reply({ type: "text", text: words(random, 200 + random.below(1800)) }, "end_turn"));
        break;
      }
      if (random.next() < 0.6) yield line(reply({ type: "text", text: words(random, 60 + random.below(300)) }, null));
      const [tool, input] = TOOLS[random.below(TOOLS.length)];
      const call = `toolu_01${random.hex(20)}`;
      yield line(reply({ type: "tool_use", id: call, name: tool, input: input(random) }, "tool_use"));
      step();
      const text = code(random, resultLength(random, brief));
      yield line({
        ...common("user"),
        message: {
          role: "user",
          content: [{ tool_use_id: call, type: "tool_result", content: text, is_error: random.next() < 0.08 }],
        },
        toolUseResult:
          tool === "Bash"
            ? { stdout: text, stderr: "", interrupted: false, isImage: false }
            : { type: "text", file: { content: text } },
      });
    }
    step();
    if (agent !== null) {
      yield line({ ...common("attachment"), attachment: { type: "date", content: "" } }, true);
      continue;
    }
    yield line({
      ...common("system"),
      subtype: "turn_duration",
      durationMs: 1000 + random.below(90_000),
      isMeta: false,
    });
    yield line({
      type: "file-history-snapshot",
      messageId: parent,
      snapshot: { messageId: parent, trackedFileBackups: {}, timestamp: new Date(at).toISOString() },
      isSnapshotUpdate: false,
    });
    yield line({ type: "last-prompt", lastPrompt: asked.slice(0, 200), leafUuid: parent, sessionId: id }, true);
  }
}

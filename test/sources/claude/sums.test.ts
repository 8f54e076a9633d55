import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, runNow } from "../../../src/files/fold.ts";
import { claudeFold } from "../../../src/sources/claude/fold.ts";
import { type AgentFile, modelRequest, sessionRequests } from "../../../src/sources/claude/requests.ts";
import { ownUsage } from "../../../src/sources/claude/sums.ts";
import { loadPrices, sumPriced } from "../../../src/usage/prices.ts";
import { Conversation } from "./rows.ts";

test("a running sum is the sum, while rows of a message grow and sub-agents replay it", async () => {
  const prices = await loadPrices();
  const reply = fc.record({
    id: fc.constantFrom("m1", "m2", "m3", "m4", "m5"),
    model: fc.constantFrom("claude-sonnet-4-5", "claude-opus-4-6", "unknowable"),
    output: fc.nat(5000),
    input: fc.nat(300_000),
    agent: fc.boolean(),
    flush: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 30 }), (replies) => {
      const [main, side] = [new Conversation("main"), new Conversation("side")];
      const [state, agentState] = [claudeFold.initial(), claudeFold.initial()];
      const agents: AgentFile[] = [
        { id: "x", path: "/x", file: agentState, type: null, description: null, model: null, toolUseId: null },
      ];
      let [at, agentAt] = [0, 0];
      for (const [i, one] of replies.entries()) {
        const usage = { input_tokens: one.input, output_tokens: one.output };
        (one.agent ? side : main).reply(`r${i}`, { id: one.id, model: one.model, usage });
        if (!one.flush && i < replies.length - 1) continue;
        at = runNow(claudeFold.advance(state, bytesOf(Buffer.from(main.text())), at));
        agentAt = runNow(claudeFold.advance(agentState, bytesOf(Buffer.from(side.text())), agentAt));
        const slow = sumPriced(
          sessionRequests(state, agents).map((owned) => modelRequest(owned, false)),
          prices,
        );
        const { cost, ...running } = ownUsage(state, agents, prices);
        const { cost: wanted, ...sum } = slow;
        expect(running).toEqual(sum);
        if (wanted === null) expect(cost).toBeNull();
        else expect(cost).toBeCloseTo(wanted, 9);
      }
    }),
  );
});

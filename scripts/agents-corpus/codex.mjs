// One rollout of Codex, line by line, for as long as somebody reads on (agents.md §2).
import { code, picture, resultLength, uuid, words } from "./text.mjs";

const MODELS = ["gpt-5.3-codex", "gpt-5.4"];
const WINDOW = 258_400;

export function codexLines({ random, begins, brief }) {
  const digits = Math.floor(begins).toString(16).padStart(12, "0");
  const id = `${digits.slice(0, 8)}-${digits.slice(8)}-7${uuid(random).slice(15)}`;
  const stamp = new Date(begins).toISOString();
  const [year, month, day] = stamp.slice(0, 10).split("-");
  const path = `sessions/${year}/${month}/${day}/rollout-${stamp.slice(0, 19).replaceAll(":", "-")}-${id}.jsonl`;
  return { path, lines: rollout({ random, begins, brief, id }) };
}

function* rollout({ random, begins, brief, id }) {
  const model = MODELS[random.below(MODELS.length)];
  const cwd = `/home/dana/code/project-${random.below(40)}`;
  let at = begins;
  let ordinal = -1;
  const thread = tokens();
  const line = (type, payload, turnEnds = false) => {
    ordinal += 1;
    const text = JSON.stringify({ timestamp: new Date(at).toISOString(), ordinal, type, payload });
    return { text, time: at, turnEnds };
  };
  yield line("session_meta", {
    session_id: id,
    id,
    timestamp: new Date(at).toISOString(),
    cwd,
    originator: "codex_cli_rs",
    cli_version: "0.163.0",
    source: "cli",
    thread_source: "user",
    model_provider: "openai",
    base_instructions: { text: words(random, brief ? 4000 : 9000) },
    history_mode: "paginated",
    git: { commit_hash: random.hex(40), branch: "main" },
  });
  yield line("response_item", {
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: `<environment_context>\n  <cwd>${cwd}</cwd>\n</environment_context>` }],
  });
  let cached = 0;
  for (;;) {
    at += 30_000 + random.below(600_000);
    const turn = uuid(random);
    const spent = tokens();
    const asked = words(random, 60 + random.below(400));
    yield line("event_msg", {
      type: "task_started",
      turn_id: turn,
      started_at: Math.floor(at / 1000),
      model_context_window: WINDOW,
    });
    yield line("turn_context", {
      turn_id: turn,
      cwd,
      approval_policy: "on-request",
      sandbox_policy: { type: "workspace-write" },
      model,
      effort: "medium",
      summary: "auto",
      user_instructions: words(random, brief ? 400 : 2500),
    });
    yield line("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: asked }] });
    yield line("event_msg", {
      type: "item_completed",
      thread_id: id,
      turn_id: turn,
      item: { type: "UserMessage", id: uuid(random), content: [{ type: "text", text: asked, text_elements: [] }] },
    });
    const steps = 1 + random.below(brief ? 3 : 8);
    let said = "";
    for (let n = 0; n < steps; n += 1) {
      at += 1000 + random.below(20_000);
      yield line("response_item", {
        type: "reasoning",
        id: `rs_${random.hex(24)}`,
        summary: [],
        encrypted_content: picture(random, 600 + random.below(2400)),
      });
      const call = `call_${random.hex(24)}`;
      const last = n === steps - 1;
      if (last) {
        said = words(random, 200 + random.below(1500));
        yield line("event_msg", {
          type: "item_completed",
          thread_id: id,
          turn_id: turn,
          item: { type: "AgentMessage", id: uuid(random), content: [{ type: "Text", text: said }] },
        });
        yield line("response_item", {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: said }],
        });
      } else {
        yield line("response_item", {
          type: "function_call",
          id: `fc_${call}`,
          name: "exec_command",
          arguments: JSON.stringify({ cmd: `rg -n part${random.below(90)} src | head -40` }),
          call_id: call,
        });
      }
      const input = 9000 + cached + random.below(3000);
      const one = {
        input_tokens: input,
        cached_input_tokens: cached,
        cache_write_input_tokens: 0,
        output_tokens: 40 + random.below(900),
        reasoning_output_tokens: random.below(40),
        total_tokens: 0,
      };
      one.total_tokens = one.input_tokens + one.output_tokens;
      cached = Math.min(200_000, input);
      for (const sum of [spent, thread]) for (const key of Object.keys(sum)) sum[key] += one[key];
      yield line("token_usage_record", {
        thread_id: id,
        turn_id: turn,
        session_id: id,
        response_id: `resp_${random.hex(24)}`,
        usage: one,
        turn_token_usage: { ...spent },
        thread_token_usage: { ...thread },
      });
      yield line("event_msg", {
        type: "token_count",
        info: { total_token_usage: { ...thread }, last_token_usage: one, model_context_window: WINDOW },
        rate_limits: null,
      });
      if (last) break;
      at += random.below(30_000);
      const output = code(random, resultLength(random, brief));
      yield line("event_msg", {
        type: "item_completed",
        thread_id: id,
        turn_id: turn,
        item: {
          type: "CommandExecution",
          id: call,
          command: ["bash", "-lc", "x"],
          status: "completed",
          aggregated_output: output,
          exit_code: 0,
        },
      });
      yield line("response_item", { type: "function_call_output", call_id: call, output });
    }
    yield line("event_msg", { type: "task_complete", turn_id: turn, last_agent_message: said }, true);
  }
}

function tokens() {
  return {
    input_tokens: 0,
    cached_input_tokens: 0,
    cache_write_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: 0,
  };
}

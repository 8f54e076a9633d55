import { joinedKeys } from "../../session/join.ts";
import type { SourceAction } from "../../sources/source.ts";
import { DocumentPane } from "../detail/document-pane.ts";
import type { Screen } from "../screen.ts";

/** The source's own actions on this session, and on the row under the cursor. */
function sourceActions(screen: Screen): { action: SourceAction; target: string | null }[] {
  const session = screen.session();
  if (!session) return [];
  const pane = screen.pane();
  const target =
    pane instanceof DocumentPane && screen.view.focus === "detail" ? (pane.target()?.target ?? null) : null;
  const view = screen.view.open?.view;
  return [session.key, ...joinedKeys(session)]
    .flatMap((key) => screen.context.live.reader(key).actions(key))
    .filter((action) => action.view === undefined || (action.view === view && target !== null))
    .map((action) => ({ action, target: action.view === undefined ? null : target }));
}

export function actionMenu(screen: Screen): void {
  const actions = sourceActions(screen);
  if (actions.length === 0) {
    screen.say("this session has no actions of its own");
    return;
  }
  const items = actions.map(({ action, target }) => ({
    label: action.title,
    ...(action.disabled === null ? {} : { note: action.disabled }),
    run: () => startAction(screen, action, target),
  }));
  screen.overlay({ type: "menu", title: "actions", items });
}

function startAction(screen: Screen, action: SourceAction, target: string | null): void {
  if (action.disabled !== null) {
    screen.say(`not now: ${action.disabled}`, "bad");
    return;
  }
  const values = Object.fromEntries(
    action.inputs.map((input) => [input.name, input.initial ?? input.choices?.[0] ?? ""]),
  );
  if (action.inputs.length > 0) {
    screen.overlay({ type: "form", action, target, values, field: 0 });
    return;
  }
  confirmAction(screen, action, values, target);
}

export function confirmAction(
  screen: Screen,
  action: SourceAction,
  values: Record<string, string>,
  target: string | null,
): void {
  screen.ask({
    title: `${action.title}?`,
    says: action.says(values, target),
    warning: null,
    verb: action.title.toLowerCase(),
    run: () =>
      screen.attempt(async () => {
        const did = await action.run(values, target);
        screen.say(did.join("; ") || "done", "good");
        screen.pane()?.refresh();
      }),
  });
}

/** Enter on a line of a document: opens what it points at, else its actions. */
export function openRow(screen: Screen): void {
  const pane = screen.pane();
  const target = pane instanceof DocumentPane ? pane.target() : null;
  if (target?.open) screen.openTarget(target.open);
  else if (target?.target) actionMenu(screen);
}

/** The style of an exported page: dark and light by the reader's own setting, readable when printed. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --faint: #59636e; --page: #ffffff; --box: #f6f8fa; --line: #d1d9e0; --accent: #0969da; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9198a1; --page: #0d1117; --box: #161b22; --line: #3d444d; --accent: #58a6ff; --bad: #ff7b72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .4rem; font-size: .95rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: var(--faint); font-size: .9rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
time { color: var(--faint); font-weight: 400; font-size: .85em; }
section, details { margin: .9rem 0; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: .5rem; }
section.prompt { border-left: .3rem solid var(--accent); background: var(--box); }
section.reply { border-color: transparent; padding-left: 0; }
section pre { font: inherit; }
summary { cursor: pointer; color: var(--faint); overflow-wrap: anywhere; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; font: .875rem/1.45 ui-monospace, monospace; }
details pre { margin-top: .6rem; max-height: 40rem; overflow: auto; }
p { margin: .6rem 0; color: var(--faint); font-size: .85rem; }
.error > summary, p.error { color: var(--bad); }
@media print { details pre { max-height: none; } section, details { break-inside: avoid; } }
`;

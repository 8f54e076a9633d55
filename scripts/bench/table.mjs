// The measurements as a Markdown table, one measure a line: it stays narrow enough to read.
const ms = (value) =>
  value >= 1000
    ? `${(value / 1000).toFixed(2)} s`
    : value >= 100
      ? `${Math.round(value)} ms`
      : `${value.toFixed(1)} ms`;
const over = (value, floor) => `${ms(value)} (${(value / floor).toFixed(1)}×)`;

export function table(rows, { runs, idleSeconds, size }) {
  const usage = (row, of) => (row.usage === null ? "" : of(row.usage));
  const measures = [
    ["files", (row) => `${row.megabytes.toFixed(1)} MB`],
    ["node alone", (row) => ms(row.nodeMs)],
    ["`cat` of it", (row) => ms(row.catMs)],
    ["first session on screen, cold", (row) => over(row.coldMs, row.nodeMs)],
    ["everything counted, cold", (row) => over(row.coldAllMs, row.nodeMs + row.catMs)],
    ["first session on screen, warm", (row) => over(row.warmMs, row.nodeMs)],
    ["everything counted, warm", (row) => over(row.warmAllMs, row.nodeMs)],
    ["key to frame", (row) => `${ms(row.keyMs)} (worst ${ms(row.keyWorstMs)})`],
    [
      "key to frame, while all is read",
      (row) => (row.readingKeyMs === null ? "" : `${ms(row.readingKeyMs)} (worst ${ms(row.readingKeyWorstMs)})`),
    ],
    ["append to screen", (row) => ms(row.appendMs)],
    [`idle ${idleSeconds} s`, (row) => `${row.idleCpuPercent.toFixed(2)} % CPU, ${row.idleBytes} B`],
    ["memory, settled after a cold start", (row) => `${Math.round(row.memoryColdMb)} MB`],
    ["memory, settled after a warm start", (row) => `${Math.round(row.memoryWarmMb)} MB`],
    ["memory, peak of a cold start", (row) => `${Math.round(row.memoryPeakMb)} MB`],
    ["`usage --by day`, cold", (row) => usage(row, (of) => ms(of.coldMs))],
    ["`usage --by day`, warm", (row) => usage(row, (of) => ms(of.warmMs))],
    ["`ccusage daily`", (row) => usage(row, (of) => (of.ccusageMs === null ? "not to be had" : ms(of.ccusageMs)))],
    ["cold, warm against ccusage", (row) => usage(row, ratios)],
  ].filter(([, cell]) => rows.some((row) => cell(row) !== ""));
  return [
    `| | ${rows.map((row) => row.corpus).join(" | ")} |`,
    `|---|${rows.map(() => "---:|").join("")}`,
    ...measures.map(([title, cell]) => `| ${title} | ${rows.map(cell).join(" | ")} |`),
    "",
    `Node ${process.version}, ${size}, medians of ${runs} starts; × is against Node alone, and for all cold files against Node plus \`cat\`.`,
  ].join("\n");
}

function ratios({ coldMs, warmMs, ccusageMs }) {
  return ccusageMs === null ? "" : `${(coldMs / ccusageMs).toFixed(1)}×, ${(warmMs / ccusageMs).toFixed(1)}×`;
}

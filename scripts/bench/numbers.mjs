export function timed(act) {
  const began = performance.now();
  act();
  return performance.now() - began;
}

export function times(count, act) {
  return Array.from({ length: count }, act);
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const grouped = new Intl.NumberFormat("en-US");

export function amount(value: number): string {
  return grouped.format(value);
}

/** `41 %`, `–` when there is nothing to have a share of. */
export function share(part: number, whole: number): string {
  return whole <= 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}

/** Date and minute of an ISO time, `–` for none. */
export function minute(time: string | null): string {
  return time === null ? "–" : time.slice(0, 16).replace("T", " ");
}

/** What one part measured. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** 1 000 000 */
export function whole(value: number): string {
  return Math.round(value)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ' ')
}

/** 0.123, 1.23, 12.3 or 123. */
export function figure(value: number): string {
  return value >= 100 ? whole(value) : value.toPrecision(3)
}

/** 1 230 000: what is reckoned from figures is no more precise than they are. */
export function rounded(value: number): string {
  return whole(Number(value.toPrecision(3)))
}

export function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

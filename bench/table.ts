const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

/** A table in Markdown. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n')
}

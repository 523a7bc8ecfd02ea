import { writeFileSync } from 'node:fs'

/** One group of bars: what one operation costs at each server. */
export interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
}

/** A bar, and the quartiles of its rounds as a line over its end. */
export interface Bar {
  readonly name: string
  /** Microseconds: lower quartile, median, upper quartile. */
  readonly quartiles: readonly [number, number, number]
  readonly kind: 'floor' | 'ours' | 'peer'
}

const [width, names, barHeight, gap, heading] = [780, 210, 16, 6, 34] as const
const barRoom = width - names - 90
// A bar that is longer than this many times the suite's is cut, or the others could not be told apart.
const longest = 3.5

/** Draws the panels into a file, one below the other, readable on light and dark pages. */
export function drawPlot(panels: readonly Panel[], file: string): void {
  let y = 10
  const drawn = panels.map((panel) => {
    const text = drawPanel(panel, y)
    y += heightOf(panel)
    return text
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img" aria-label="Processor time of one operation at each server, in microseconds">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.floor { fill: #afb8c1 } .peer { fill: #6e9bd1 } .ours { fill: #1a7f37 }
.spread { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .floor { fill: #57606a } .peer { fill: #3d6ea5 } .ours { fill: #2ea043 } .spread { stroke: #e6edf3 }
}
</style>
${drawn.join('\n')}
</svg>
`
  writeFileSync(file, svg)
}

const heightOf = ({ bars }: Panel): number => heading + bars.length * (barHeight + gap) + 14

function drawPanel({ title, bars }: Panel, top: number): string {
  const ours = bars.find(({ kind }) => kind === 'ours')?.quartiles[1] ?? 1
  const most = Math.min(longest * ours, Math.max(...bars.map(({ quartiles }) => quartiles[2])))
  const x = (value: number) => names + (Math.min(value, most) / most) * barRoom
  const lines = bars.map(({ name, quartiles: [lower, median, upper], kind }, at) => {
    const y = top + heading + at * (barHeight + gap)
    const middle = y + barHeight / 2
    const isCut = median > most
    const spread = isCut
      ? ''
      : `<line class="spread" x1="${shown(x(lower))}" x2="${shown(x(upper))}" y1="${middle}" y2="${middle}"/>`
    return `<text x="${names - 8}" y="${middle + 4}" text-anchor="end">${name}</text><rect class="${kind}" x="${names}" y="${y}" width="${shown(x(median) - names)}" height="${barHeight}"/>${spread}<text x="${shown(Math.max(x(median), isCut ? 0 : x(upper)) + 6)}" y="${middle + 4}">${median.toFixed(0)}${isCut ? ' →' : ''}</text>`
  })
  return [`<text class="title" x="8" y="${top + 20}">${title}</text>`, ...lines].join('\n')
}

const shown = (value: number): string => value.toFixed(1)

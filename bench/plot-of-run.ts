import { quartilesOf } from './figures'
import { drawPlot, type Bar, type Panel } from './plot'
import type { Results } from './report'
import { servers } from './servers'
import type { Workload } from './story'

const panels = [
  ['clientCredentials', 'token of a client'],
  ['codeFlowWithPage', 'code flow with a page'],
  ['refresh', 'refresh'],
  ['guard', 'guarded request'],
] as const satisfies readonly (readonly [Workload, string])[]

const shownServers = servers.filter(
  ({ variant, name }) =>
    variant === undefined && !/cache|JWT|jwt|application/.test(name) && name !== 'suite, unguarded route',
)

/** Draws what one operation costs at each server into this file, an SVG. */
export function plotRun(results: Results, file: string): void {
  drawPlot(
    panels.map(([workload, title]) => panelOf(results, workload, title)),
    file,
  )
}

function panelOf({ figures }: Results, workload: Workload, title: string): Panel {
  const bars = shownServers.flatMap(({ name, role }): readonly Bar[] => {
    const rounds = figures.get(workload)?.get(name) ?? figures.get('codeFlow')?.get(name)
    const isOwn = figures.get(workload)?.has(name) === true
    // Of better-auth and others, which show no page here, the flow that they have.
    if (rounds === undefined || (!isOwn && (workload !== 'codeFlowWithPage' || role !== 'peer'))) return []
    return [
      {
        name: isOwn ? name : `${name}, no page`,
        quartiles: quartilesOf(rounds.map(({ cpu }) => cpu)),
        kind: role,
      },
    ]
  })
  return {
    title: `${title}, µs`,
    bars: bars.toSorted((one, other) => one.quartiles[1] - other.quartiles[1]),
  }
}

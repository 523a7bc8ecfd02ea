import { peers } from './peers'
import { bare } from './stories/bare'
import { ours } from './stories/ours'
import type { Stories, Workload } from './story'

/** One round that the harness asks a target for which runs its generator itself. */
export interface RoundInProcess {
  readonly row: Row
  /** Of processor time: on a busy machine a round lasts longer, and holds as much. */
  readonly milliseconds: number
}

/** What is measured in one process. Some peers show no page: their flow is the one that they have. */
export const rows = {
  'client credentials': ['clientCredentials'],
  'code flow': ['codeFlowWithPage', 'codeFlow'],
  refresh: ['refresh'],
  guard: ['guard'],
} as const satisfies Readonly<Record<string, readonly Workload[]>>

export type Row = keyof typeof rows

/** By the name of the program in targets/. */
export const storiesInProcess: Readonly<Record<string, Stories>> = { ...peers, bare, ours }

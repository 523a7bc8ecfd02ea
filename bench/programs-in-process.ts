import { peers } from './peers'
import { signedPrograms } from './signed-programs'
import { bare, bareApproved } from './stories/bare'
import { approvedAlready, ours } from './stories/ours'
import type { Stories, Workload } from './story'

/** One round that the harness asks a target for which runs its generator itself. */
export interface RoundInProcess {
  readonly row: Row
  /** Of processor time: on a busy machine a round lasts longer, and holds as much. */
  readonly milliseconds: number
}

/** A row that the harness asks such a target to count, see counting.ts. */
export interface CountInProcess {
  readonly row: Row
}

/** What is measured in one process. Some peers show no page: their flow is the one that they have. */
export const rows = {
  'client credentials': ['clientCredentials'],
  'code flow': ['codeFlowWithPage', 'codeFlow'],
  refresh: ['refresh'],
  guard: ['guard'],
} as const satisfies Readonly<Record<string, readonly Workload[]>>

export type Row = keyof typeof rows

/** A target that is its own generator. */
export interface ProgramInProcess {
  /** In targets/. */
  readonly program: string
  readonly environment?: Readonly<Record<string, string>>
  readonly stories: Stories
}

/** With opaque tokens. Each has the name of its program. */
const opaque = Object.entries({ ...peers, bare, ours }).map(
  ([program, stories]): readonly [string, ProgramInProcess] => [program, { program, stories }],
)

export const programsInProcess: Readonly<Record<string, ProgramInProcess>> = {
  ...Object.fromEntries(opaque),
  ...signedPrograms,
  // A flow without the page of consent: two requests.
  'bare, approved before': {
    program: 'bare',
    environment: { BENCH_APPROVED: 'yes' },
    stories: bareApproved,
  },
  'ours, approved before': {
    program: 'ours',
    environment: { BENCH_APPROVED: 'yes' },
    stories: approvedAlready,
  },
}

/** The tables of `cost`, each with the programs that stand in it. */
export const tables: Readonly<Record<'cost' | 'signed', readonly string[]>> = {
  cost: opaque.map(([name]) => name),
  signed: ['bare', 'ours', 'better-auth', 'oidc-provider', ...Object.keys(signedPrograms)],
}

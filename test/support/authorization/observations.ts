import type { Issued } from '../../../lib/authorization/issue'
import { findAccessTokenIn } from '../../../lib/authorization/lookup'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/refresh'
import { redemption, refreshWith } from './authorization'
import { noon } from './issue-context'
import type { Move } from './moves'
import type { Operation, Simulation } from './simulation'

type Of<Kind extends Move['move']> = Operation & { readonly move: Extract<Move, { move: Kind }> }

/** The operations of one kind, in the order in which they ended. */
export function operationsOf<Kind extends Move['move']>(
  { operations }: Simulation,
  ...kinds: readonly Kind[]
): readonly Of<Kind>[] {
  return operations.filter((operation): operation is Of<Kind> =>
    kinds.some((kind) => kind === operation.move.move),
  )
}

/** The tokens that an operation brought to its client. */
export function tokensOf({ ending }: Operation): Issued | undefined {
  return ending.kind === 'tokens' ? ending.issued : undefined
}

/** Whether the server gave an answer, good or bad, and not just trouble. */
export const wasAnswered = ({ ending }: Operation): boolean => ending.kind !== 'trouble'

/** Each refresh token that was delivered: how many refreshes it is away from the code, and its first delivery. */
function lineage(
  simulation: Simulation,
): ReadonlyMap<string, { readonly depth: number; readonly delivery: Operation }> {
  const known = new Map<string, { readonly depth: number; readonly delivery: Operation }>()
  for (const operation of simulation.operations) {
    const token = tokensOf(operation)?.refreshToken
    const depth = (known.get(operation.presented)?.depth ?? -1) + 1
    if (token !== undefined && !known.has(token)) known.set(token, { depth, delivery: operation })
  }
  return known
}

/** The newest tokens that were delivered. */
export function newestTokens(simulation: Simulation): Issued | undefined {
  const generations = [...lineage(simulation).values()].toSorted((one, other) => other.depth - one.depth)
  return generations[0] && tokensOf(generations[0].delivery)
}

/** Whether a refresh came with a token that was out of use when it began: an older generation, or past the grace. */
export function wasOutOfUse(simulation: Simulation, refresh: Operation): boolean {
  const known = lineage(simulation)
  const presented = known.get(refresh.presented)?.depth ?? 0
  return [...known.values()].some(
    ({ depth, delivery }) =>
      delivery.ended.turn < refresh.began.turn &&
      (depth > presented + 1 ||
        (depth === presented + 1 &&
          refresh.began.now >= delivery.ended.now + simulation.lifetimes.refreshTokenGrace)),
  )
}

/** Every credential ever made that the server would still take, even if its time were not up. */
export async function validCredentials(simulation: Simulation): Promise<readonly string[]> {
  const record = (await simulation.records.find(simulation.id))?.authorization
  const at = { ...simulation.context(), now: noon }
  const taken = {
    ac_: (code: string) => 'outcome' in redeemCode(record, redemption(code), at),
    at_: (token: string) => findAccessTokenIn(record, token, noon) !== undefined,
    rt_: (token: string) => 'outcome' in rotateRefreshToken(record, refreshWith(token), at),
  }
  return [...simulation.made].filter((credential) =>
    Object.entries(taken).some(([prefix, accepts]) => credential.startsWith(prefix) && accepts(credential)),
  )
}

/** The credentials whose secret stands in a stored text, in clear or in any of the usual encodings. */
export function leaked(text: string, credentials: Iterable<string>): readonly string[] {
  const decoded = (text.match(/[A-Za-z0-9_-]{16,}/g) ?? []).map((word) =>
    Buffer.from(word, 'base64url').toString('latin1'),
  )
  const haystack = [text, ...decoded].join('\n')
  return [...credentials].filter((credential) => {
    const secret = Buffer.from(credential.slice(3), 'base64url').subarray(-32)
    const forms = [credential.slice(-42), secret.toString('latin1'), secret.toString('hex')]
    return [...forms, secret.toString('base64url').slice(0, 42)].some((form) => haystack.includes(form))
  })
}

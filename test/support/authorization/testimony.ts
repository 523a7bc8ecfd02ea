import type { Issued } from '../../../lib/authorization/issue'
import { presentAccessToken } from '../../../lib/authorization/lookup'
import { redeemCode } from '../../../lib/authorization/redeem-code'
import { rotateRefreshToken } from '../../../lib/authorization/refresh'
import { OAuthError } from '../../../lib/protocol/oauth-error'
import { redemption, refreshWith } from './authorization'
import { noon } from './issue-context'
import type { Move } from './moves'
import type { Deed, World } from './world'

type Of<Kind extends Move['move']> = Deed & { readonly move: Extract<Move, { move: Kind }> }

/** The deeds of one kind, in the order in which they ended. */
export function deedsOf<Kind extends Move['move']>(
  { deeds }: World,
  ...kinds: readonly Kind[]
): readonly Of<Kind>[] {
  return deeds.filter((deed): deed is Of<Kind> => kinds.some((kind) => kind === deed.move.move))
}

/** The tokens that a deed brought to its client. */
export function tokensOf({ ending }: Deed): Issued | undefined {
  return ending.kind === 'tokens' ? ending.issued : undefined
}

/** Whether the server gave an answer, good or bad, and not just trouble. */
export const wasAnswered = ({ ending }: Deed): boolean => ending.kind !== 'trouble'

/** Each refresh token that was delivered: how many refreshes it is away from the code, and its first delivery. */
function lineage(world: World): ReadonlyMap<string, { readonly depth: number; readonly delivery: Deed }> {
  const known = new Map<string, { readonly depth: number; readonly delivery: Deed }>()
  for (const deed of world.deeds) {
    const token = tokensOf(deed)?.refreshToken
    const depth = (known.get(deed.presented)?.depth ?? -1) + 1
    if (token !== undefined && !known.has(token)) known.set(token, { depth, delivery: deed })
  }
  return known
}

/** The newest tokens that were delivered. */
export function deepest(world: World): Issued | undefined {
  const generations = [...lineage(world).values()].toSorted((one, other) => other.depth - one.depth)
  return generations[0] && tokensOf(generations[0].delivery)
}

/** Whether a refresh came with a token that was out of use when it began: an older generation, or past the grace. */
export function wasOutOfUse(world: World, refresh: Deed): boolean {
  const known = lineage(world)
  const presented = known.get(refresh.presented)?.depth ?? 0
  return [...known.values()].some(
    ({ depth, delivery }) =>
      delivery.ended.turn < refresh.began.turn &&
      (depth > presented + 1 ||
        (depth === presented + 1 &&
          refresh.began.now >= delivery.ended.now + world.lifetimes.refreshTokenGrace)),
  )
}

/** Every credential ever made that the server would still take, even if its time were not up. */
export async function alive(world: World): Promise<readonly string[]> {
  const record = (await world.records.find(world.id))?.authorization
  const at = { ...world.context(), now: noon }
  const taken = {
    ac_: (code: string) => !(redeemCode(record, redemption(code), at).outcome instanceof OAuthError),
    at_: (token: string) => presentAccessToken(record, token, noon) !== undefined,
    rt_: (token: string) =>
      !(rotateRefreshToken(record, refreshWith(token), at).outcome instanceof OAuthError),
  }
  return [...world.made].filter((credential) =>
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

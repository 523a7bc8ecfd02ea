import { createHmac } from 'node:crypto'
import type { AuthorizationIndex } from '../authorization/authorization-index'
import { createId, digest, type Random } from '../protocol/credential'

export type FormText = (...parts: readonly string[]) => string

const tenYears = 10 * 365 * 24 * 3600

/**
 * Neither another site nor an API that knows an authorization can make such a text. Processes of an issuer
 * share the key, in the index under no owner's name: the two parts stand the other way round.
 */
export async function formTexts(
  index: AuthorizationIndex,
  issuerDigest: string,
  random: Random,
): Promise<FormText> {
  const owner = digest('forms of connected applications') + issuerDigest
  const keys = async () => (await index.list(owner)).map(({ authorizationId }) => authorizationId).toSorted()
  let [key] = await keys()
  if (key === undefined) {
    const entry = { authorizationId: createId(random), clientId: 'key' }
    await index.add(owner, entry, { seconds: tenYears, age: 0 })
    ;[key = entry.authorizationId] = await keys()
  }
  const chosen = key
  return (...parts) => createHmac('sha256', chosen).update(JSON.stringify(parts)).digest('base64url')
}

import { type KeyManagement, type ListedKey, manageSigningKeys } from '../jwt/signing-keys/signing-keys'
import { type Answer, type Command, onStore } from './command'
import { everywhere, ofStore, text } from './flags'

const flags = { ...ofStore, ...everywhere, issuer: text('the option issuer of the server; required') }

const onKeys = (act: (keys: KeyManagement, kid: string) => Promise<Answer>) =>
  onStore(async (store, { name, values: { issuer: [issuer = ''] = [] }, environment }) => {
    const secrets = (environment['SIGNING_KEY_SECRETS'] ?? '').split(',').filter((secret) => secret !== '')
    return act(manageSigningKeys({ issuer, store, secrets }), name)
  })

const dateOf = (seconds: number) => new Date(seconds * 1000).toISOString()

const listed = (keys: readonly ListedKey[], note?: string): Answer => ({
  found: keys.map(({ kid, algorithm, createdAt, signsFrom, signs, secret }) => {
    return { kid, algorithm, created: dateOf(createdAt), signs_from: dateOf(signsFrom), signs, secret }
  }),
  ifEmpty: 'No signing key is here. A server makes the first one when it starts.',
  note,
})

function rotated(before: readonly ListedKey[], after: readonly ListedKey[]): string {
  const algorithms = [...new Set(after.map(({ algorithm }) => algorithm))]
  const sentences = algorithms.map((name) => {
    const isMade = (key: ListedKey) => key.algorithm === name && before.every(({ kid }) => kid !== key.kid)
    const made = after.find(isMade)
    return made === undefined
      ? `${name}: a successor waits already, so the command made none.`
      : `${name}: made ${made.kid}, which signs from ${dateOf(made.signsFrom)}.`
  })
  return sentences.join(' ')
}

const retiredNote =
  'Every process of the server drops the key within 10 seconds, or within a minute if it cannot reach the store. Verifiers elsewhere keep the key until their cache ends: 10 minutes, or longer if they ignore Cache-Control.'

export const keyCommands: Readonly<Record<string, Command>> = {
  'keys list': {
    meaning: 'list the signing keys; secret says which of SIGNING_KEY_SECRETS opens each',
    flags,
    run: onKeys(async (keys) => listed(await keys.list())),
  },
  'keys rotate': {
    meaning: 'make a successor for each key that signs; it signs in 15 minutes, or as publishBefore says',
    flags,
    run: onKeys(async (keys) => {
      const before = await keys.list()
      const after = await keys.rotate()
      return listed(after, rotated(before, after))
    }),
  },
  'keys retire': {
    meaning: 'end a key at once, such as one that has leaked; its tokens become invalid',
    takes: 'kid',
    flags,
    run: onKeys(async (keys, kid) => listed(await keys.retire(kid), retiredNote)),
  },
}

import { deepEqual } from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { type AuthorizationIndex, entriesAtMost, type IndexEntry } from '../authorization/authorization-index'
import { atOnce, checkOf, contractOf, labelled, rulesOf, type UnderTest } from './contract'

export interface IndexUnderTest extends UnderTest {
  readonly index: AuthorizationIndex
}

/** In the form of an owner or a client. */
export const anyOwner = (): string =>
  randomBytes(12).toString('base64url') + createHash('sha256').update(randomUUID()).digest('base64url')

// Of a mark of a client. A step says how many seconds later.
const at = 1_800_000_000

const sorted = (entries: readonly IndexEntry[]) =>
  entries.toSorted((one, other) => (one.authorizationId < other.authorizationId ? -1 : 1))

function actsOf({ index }: IndexUnderTest) {
  const [owner, other] = [anyOwner(), anyOwner()]
  const entryOf = labelled((label) => ({
    authorizationId: randomBytes(16).toString('base64url'),
    clientId: label.replace(/^\w+:?/, '') || 'client',
  }))
  const add = (label: string, seconds = '60', age = '0', to = owner) =>
    index.add(to, entryOf(label), { seconds: Number(seconds), age: Number(age) })
  const revoke = (later: number, seconds = '60') => index.revokeClient(owner, at + later, Number(seconds))
  const revoked = async (client: string) => {
    const before = await index.revokedBefore(client)
    return before === undefined ? undefined : before - at
  }
  return {
    add,
    addOther: (label: string, seconds?: string, age?: string) => add(label, seconds, age, other),
    async addMany(count: string) {
      const outcomes = new Set<string>()
      for (let first = 0; first < Number(count); first += 100)
        for (const outcome of await atOnce(100, (number) => add(`${first + number}`))) outcomes.add(outcome)
      return [...outcomes]
    },
    async list(...labels: string[]) {
      deepEqual(sorted(await index.list(owner)), sorted(labels.map(entryOf)))
    },
    size: async () => (await index.list(owner)).length,
    remove: (...labels: string[]) =>
      index.remove(
        owner,
        labels.map((label) => entryOf(label).authorizationId),
      ),
    mark: (seconds: string) => index.mark(owner, Number(seconds)),
    revoke: (later: string, seconds?: string) => revoke(Number(later), seconds),
    revokeAtOnce: () => atOnce(50, (number) => revoke((number * 7) % 50)),
    revoked: () => revoked(owner),
    revokedOther: () => revoked(other),
  }
}

const hundred = Array.from({ length: 100 }, (_, number) => number).join(' ')

const oddClients = [
  '__proto__',
  'constructor',
  'ü {tag} \u{1F511}',
  'https://app.example/client.json?a=b#c',
  'x'.repeat(256),
]

export const authorizationIndexRules = [
  ...rulesOf(actsOf, {
    'list resolves to an empty list for an owner without entries': 'list',
    'list resolves to every entry of this owner, and of no other':
      'add a = added; add b = added; add c:two = added; addOther d; list a b c:two',
    'add keeps one entry for one authorization, with the end that came last':
      'add a 0.1; add a 60; wait 0.2; list a',
    'an entry is gone after its end, and others stay': 'add a 60; add b 0.1; wait 0.2; list a',
    'add keeps every one of 100 entries that come at once': `addMany 100 = added; list ${hundred}`,
    'remove removes these entries and no others': 'add a; add b; add c; remove a c unknown; remove; list b',
    'mark refuses an entry whose owner was read before, and leaves the entries':
      'add a; mark 60; add b 60 30 = marked; add a 60 30 = marked; list a',
    'mark admits an entry whose owner was read after it': 'mark 60; wait 0.2; add a 60 0.1 = added; list a',
    'mark counts for its seconds, and for this owner':
      'mark 0.1; addOther a 60 30 = added; wait 0.2; add b 60 30 = added',
    'mark outlives every entry of the owner': 'add a 0.1; mark 60; wait 0.2; add b 60 30 = marked',
    'an entry outlives a mark of the owner': 'add a 60; mark 0.1; wait 0.2; list a',
    'the last mark counts': 'mark 60; wait 2; add a 60 1.5 = added; mark 60; add b 60 1.5 = marked',
    [`add refuses more than ${entriesAtMost} entries of one owner, and still renews one`]: `addMany ${entriesAtMost}; add new = full; add 0 = added; size = ${entriesAtMost}`,
  }),
  ...oddClients.flatMap((clientId) =>
    rulesOf(
      actsOf,
      {
        [`a client named ${JSON.stringify(clientId.slice(0, 40))} comes back as it was`]:
          'add a:* = added; list a:*',
      },
      clientId,
    ),
  ),
  ...rulesOf(actsOf, {
    'revokedBefore resolves to undefined for a client without a mark': 'revoked = none',
    'revokedBefore resolves to the time of the mark, for this client alone':
      'revoke 0; revoked = 0; revokedOther = none',
    'revokeClient keeps the latest time, in whatever order the marks come':
      'revoke 0; revoke 7; revoke -7; revoked = 7',
    'revokeClient keeps the latest of 50 times that come at once': 'revokeAtOnce; revoked = 49',
    'a mark of a client is gone after its seconds': 'revoke 0 0.1; wait 0.2; revoked = none',
    'a later mark with fewer seconds ends no mark of a client early':
      'revoke 0; revoke 1 0.1; wait 0.2; revoked = 1',
    'a mark of a client has nothing to do with an owner of the same name':
      'revoke 0; add a 60 30 = added; mark 60; revoked = 0; list a',
  }),
]

/** For an `AuthorizationIndex`. No two rules use one owner. */
export const authorizationIndexContract = contractOf(authorizationIndexRules)

export const checkAuthorizationIndex = checkOf(authorizationIndexRules)

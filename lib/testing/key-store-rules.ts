import { equal } from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import type { KeyStore } from '../stores/key-store'
import { atOnce, checkOf, contractOf, labelled, rulesOf, same, type UnderTest } from './contract'

export interface KeyStoreUnderTest extends UnderTest {
  readonly keys: KeyStore
}

const textOf = (label: string) =>
  label === 'long' ? '{"key":"ü \u0000 \u{1F511}"}'.padEnd(100_000, '.') : `Text ${label}`

const actsOf =
  (odd = '') =>
  ({ keys }: KeyStoreUnderTest) => {
    const name = randomUUID() + odd
    const revisionOf = labelled(() => randomBytes(16).toString('base64url'))
    const save = (label: string, expected?: string) =>
      keys.save(name, textOf(label), revisionOf(label), expected && revisionOf(expected))
    return {
      save,
      async find(expected?: string) {
        const found = await keys.find(name)
        same(found, expected && { text: textOf(expected), revision: revisionOf(expected) })
      },
      findOther: async () => (await keys.find(`${name}:other`))?.text,
      async saveAtOnce(expected?: string) {
        const saved = await atOnce(50, (rival) => save(`${rival}`, expected))
        equal(saved.filter(Boolean).length, 1)
        const winner = `${saved.indexOf(true)}`
        same(await keys.find(name), { text: textOf(winner), revision: revisionOf(winner) })
      },
    }
  }

export const keyStoreRules = [
  ...rulesOf(actsOf(), {
    'find resolves to undefined for a name without a text': 'find',
    'save without a revision stores a text that is not there yet, and find returns it':
      'save one = true; save two = false; find one; findOther = none',
    'save with a revision replaces the text of this revision, and no other':
      'save one new = false; find; save one; save two one = true; save three one = false; find two',
    'save resolves to true if an earlier call with this revision succeeded':
      'save one; save one = true; save two one; save two one = true; find two',
    'save lets one of 50 parallel creations succeed': 'saveAtOnce',
    'save lets one of 50 parallel replacements succeed': 'save one; saveAtOnce one',
    'a text of 100 000 characters comes back as it was, with every character': 'save long; find long',
    'a text does not expire': 'save one; wait 3; find one',
  }),
  ...['__proto__', 'constructor', 'ü:{tag}'].flatMap((odd) =>
    rulesOf(actsOf(odd), {
      [`a name that contains ${JSON.stringify(odd)} works like any other`]: 'save one = true; find one',
    }),
  ),
]

/** For a `KeyStore`. No two rules use one name. */
export const keyStoreContract = contractOf(keyStoreRules)

export const checkKeyStore = checkOf(keyStoreRules)

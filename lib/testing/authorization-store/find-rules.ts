import { equal } from 'node:assert/strict'
import type { Pending } from '../../authorization/authorization'
import { same } from '../same'
import { active, everyKind, inSeconds, pending, random22, swapCase } from './examples'
import { storeRules } from './store-under-test'
import { find, save, version } from './version'

const { request } = pending(0)

const hardToKeep: readonly (readonly [what: string, changed: Partial<Pending>])[] = [
  ['text that is not ASCII', { subject: 'Zoë שלום 👩‍🚀 \u2028', clientId: 'ﬀ e\u0301 \u00E9' }],
  ['quotes, backslashes and placeholders', { subject: `a"b'c\\d\\"e\`f`, clientId: '%00 ${} :id $1 ?' }],
  ['control characters', { subject: 'a\u0000b\u0001c\r\n\t\u007F' }],
  ['white space at both ends', { subject: ' a ', clientId: '\tb\n' }],
  ['numbers as text', { subject: '007', clientId: '12345678901234567890' }],
  ['names that objects inherit', { bindings: { ['__proto__']: { admin: true }, constructor: 1 } }],
  ['names that query languages read', { bindings: { $set: { 'a.b': 1 }, 'a b': '$x', a: '{}' } }],
  ['every type of JSON', { bindings: { all: [null, true, 0.1, -7, '', [], {}, [[1]], { a: { b: null } }] } }],
  ['empty scope and bindings', { scope: [], bindings: {} }],
  ['a state of 10 kB', { request: { ...request, requestState: '"é\\ '.repeat(2500) } }],
  ['no state', { request: { ...request, requestState: undefined } }],
]

const rule = storeRules('find:')

/** What a look-up must keep. */
export const findRules = [
  rule('finds nothing under an id that was never saved', async (store) => {
    equal(await store.find(random22()), undefined)
  }),

  ...everyKind.map(([kind, make]) =>
    rule(`finds what was saved, with its revision: ${kind}`, async (store) => {
      const saved = version(make(inSeconds(600)))
      await save(store, saved)
      same(await find(store, saved), saved)
    }),
  ),

  ...hardToKeep.map(([what, changed]) =>
    rule(`finds exactly what was saved: ${what}`, async (store) => {
      const saved = version(pending(inSeconds(600), changed))
      await save(store, saved)
      same(await find(store, saved), saved)
    }),
  ),

  rule('keeps one record apart from another', async (store) => {
    const [one, other] = [version(pending(inSeconds(600))), version(active(inSeconds(600)))]
    await save(store, one)
    await save(store, other)
    await save(store, version(active(inSeconds(600), { id: one.authorization.id })), one)
    same(await find(store, other), other)
    await store.remove(one.authorization.id)
    same(await find(store, other), other)
  }),

  rule('keeps ids apart that differ only in the case of their letters', async (store) => {
    const saved = version(pending(inSeconds(600)))
    await save(store, saved)
    equal(await store.find(swapCase(saved.authorization.id)), undefined)
  }),
]

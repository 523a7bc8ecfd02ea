import { equal } from 'node:assert/strict'
import type { Pending } from '../../authorization/authorization'
import { same } from '../same'
import { activeRecord, everyKind, inSeconds, pendingRecord, random22, swapCase } from './examples'
import { storeRules } from './store-under-test'
import { findRecord, saveRecord, version } from './version'

const { request } = pendingRecord(0)

const hardToKeep: readonly (readonly [what: string, changed: Partial<Pending>])[] = [
  ['text that is not ASCII', { subject: 'Zoë שלום 👩‍🚀 \u2028', clientId: 'ﬀ e\u0301 \u00E9' }],
  ['quotes, backslashes and placeholders', { subject: `a"b'c\\d\\"e\`f`, clientId: '%00 ${} :id $1 ?' }],
  ['control characters', { subject: 'a\u0000b\u0001c\r\n\t\u007F' }],
  ['white space at both ends', { subject: ' a ', clientId: '\tb\n' }],
  ['numbers as text', { subject: '007', clientId: '12345678901234567890' }],
  ['names that objects inherit', { extensionData: { ['__proto__']: { admin: true }, constructor: 1 } }],
  ['names that query languages read', { extensionData: { $set: { 'a.b': 1 }, 'a b': '$x', a: '{}' } }],
  [
    'every type of JSON',
    { extensionData: { all: [null, true, 0.1, -7, '', [], {}, [[1]], { a: { b: null } }] } },
  ],
  ['empty scope and bindings', { scope: [], extensionData: {} }],
  ['a state of 10 kB', { request: { ...request, requestState: '"é\\ '.repeat(2500) } }],
  ['no state', { request: { ...request, requestState: undefined } }],
]

const findRule = storeRules('find:')

/** What a look-up must keep. */
export const findRules = [
  findRule('finds nothing under an id that was never saved', async (store) => {
    equal(await store.find(random22()), undefined)
  }),

  ...everyKind.map(([kind, make]) =>
    findRule(`finds what was saved, with its revision: ${kind}`, async (store) => {
      const saved = version(make(inSeconds(600)))
      await saveRecord(store, saved)
      same(await findRecord(store, saved), saved)
    }),
  ),

  ...hardToKeep.map(([what, changed]) =>
    findRule(`finds exactly what was saved: ${what}`, async (store) => {
      const saved = version(pendingRecord(inSeconds(600), changed))
      await saveRecord(store, saved)
      same(await findRecord(store, saved), saved)
    }),
  ),

  findRule('keeps one record apart from another', async (store) => {
    const [one, other] = [version(pendingRecord(inSeconds(600))), version(activeRecord(inSeconds(600)))]
    await saveRecord(store, one)
    await saveRecord(store, other)
    await saveRecord(store, version(activeRecord(inSeconds(600), { id: one.authorization.id })), one)
    same(await findRecord(store, other), other)
    await store.remove(one.authorization.id)
    same(await findRecord(store, other), other)
  }),

  findRule('keeps ids apart that differ only in the case of their letters', async (store) => {
    const saved = version(pendingRecord(inSeconds(600)))
    await saveRecord(store, saved)
    equal(await store.find(swapCase(saved.authorization.id)), undefined)
  }),
]

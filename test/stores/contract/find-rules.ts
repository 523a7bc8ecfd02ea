import type { Pending } from '../../../lib/authorization/authorization'
import type { AuthorizationStore } from '../../../lib/stores/authorization-store'
import { active, everyKind, inSeconds, pending, random22 } from './examples'
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

export function findRules(store: () => AuthorizationStore): void {
  it('finds nothing under an id that was never saved', async () => {
    expect(await store().find(random22())).toBeUndefined()
  })

  it.each(everyKind)('finds what was saved, with its revision: %s', async (_kind, make) => {
    const saved = version(make(inSeconds(600)))
    await save(store(), saved)
    expect(await find(store(), saved)).toEqual(saved)
  })

  it.each(hardToKeep)('finds exactly what was saved: %s', async (_what, changed) => {
    const saved = version(pending(inSeconds(600), changed))
    await save(store(), saved)
    expect(await find(store(), saved)).toEqual(saved)
  })

  it('keeps one record apart from another', async () => {
    const [one, other] = [version(pending(inSeconds(600))), version(active(inSeconds(600)))]
    await save(store(), one)
    await save(store(), other)
    await save(store(), version(active(inSeconds(600), { id: one.authorization.id })), one)
    expect(await find(store(), other)).toEqual(other)
    await store().remove(one.authorization.id)
    expect(await find(store(), other)).toEqual(other)
  })

  it('keeps ids apart that differ only in the case of their letters', async () => {
    const saved = version(pending(inSeconds(600)))
    await save(store(), saved)
    expect(await store().find(swapCase(saved.authorization.id))).toBeUndefined()
  })
}

export function swapCase(text: string): string {
  return text.replaceAll(/[A-Za-z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}

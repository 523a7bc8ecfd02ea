import { inspect } from 'node:util'
import { privateState } from '../../lib/primitives/private-state'

describe('beside', () => {
  it('keeps the last value with its object, and none with another', () => {
    const kept = privateState<object, number>()
    const [one, other] = [{}, {}]
    kept.set(one, 1)
    kept.set(one, 2)
    expect([kept.get(one), kept.get(other)]).toEqual([2, undefined])
  })

  it('keeps apart what is kept by different places', () => {
    const [first, second] = [privateState<object, string>(), privateState<object, string>()]
    const holder = {}
    first.set(holder, 'first')
    second.set(holder, 'second')
    expect([first.get(holder), second.get(holder)]).toEqual(['first', 'second'])
  })

  it('shows nothing of it to code that has the object', () => {
    const kept = privateState<object, string>()
    const holder = { own: 1 }
    kept.set(holder, 'secret')
    expect(Reflect.ownKeys(holder)).toEqual(['own'])
    expect({ ...holder }).toEqual({ own: 1 })
    expect(inspect(holder, { showHidden: true })).not.toContain('secret')
    expect(kept.get({ ...holder })).toBeUndefined()
  })

  it('gives a derived object nothing of its prototype', () => {
    const kept = privateState<object, string>()
    const holder = {}
    kept.set(holder, 'own')
    expect(kept.get(Object.create(holder))).toBeUndefined()
  })
})

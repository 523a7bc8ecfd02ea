import { frozen } from '../../lib/resource-server/admit'

describe('frozen', () => {
  it('freezes what JSON holds, at every level', () => {
    const value = frozen({ list: [{ deep: ['x'] }], nothing: null, text: 'x' })
    expect([value, value.list, value.list[0], value.list[0]?.deep].every(Object.isFrozen)).toBe(true)
  })

  it('goes as deep as JSON does', () => {
    const levels = 100_000
    const value: unknown = JSON.parse('[['.repeat(levels) + ']]'.repeat(levels))
    expect(Object.isFrozen(frozen(Object(value)))).toBe(true)
  })

  it('freezes a member named __proto__, and nothing that objects inherit', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1}}')
    const held = Object.getOwnPropertyDescriptor(frozen(Object(value)), '__proto__')?.value
    expect(Object.isFrozen(held)).toBe(true)
    expect(Object.isFrozen(Object.prototype)).toBe(false)
  })
})

import { OptionsReader } from '../../lib/primitives/options-reader'
import { readImplications, withImplied } from '../../lib/protocol/implied-scope'

const known = ['notes:read', 'notes:write', 'notes:admin', 'profile']

interface Known {
  readonly knownScope?: readonly string[]
}

function read(implies: unknown, { knownScope }: Known = { knownScope: known }) {
  const reading = new OptionsReader({ implies }, '')
  return { implied: readImplications(reading, knownScope), issues: reading.issues }
}

describe('implied scopes', () => {
  it('reach over several steps, in any order of the option', () => {
    const { implied, issues } = read({
      'notes:admin': ['notes:write', 'profile'],
      'notes:write': ['notes:read'],
    })
    expect(issues).toEqual([])
    expect(withImplied(['notes:admin'], implied)).toEqual([
      'notes:admin',
      'notes:write',
      'profile',
      'notes:read',
    ])
    expect(withImplied(['notes:write'], implied)).toEqual(['notes:write', 'notes:read'])
    expect(withImplied(['notes:read', 'profile'], implied)).toEqual(['notes:read', 'profile'])
    expect(withImplied([], implied)).toEqual([])
  })

  it('hold each scope once, also where several scopes imply it', () => {
    const { implied } = read({ 'notes:write': ['notes:read'], profile: ['notes:read', 'notes:read'] })
    expect(withImplied(['notes:read', 'notes:write', 'profile'], implied)).toEqual([
      'notes:read',
      'notes:write',
      'profile',
    ])
  })

  it('change nothing without the option: the same list comes back', () => {
    const scope = ['notes:write']
    expect(withImplied(scope, read(undefined).implied)).toBe(scope)
    expect(read({}).implied).toBeUndefined()
  })

  it.each<[string, object]>([
    ['notes:read', { 'notes:read': ['notes:read'] }],
    ['notes:read', { 'notes:read': ['notes:write'], 'notes:write': ['notes:read'] }],
    [
      'notes:write',
      { 'notes:admin': ['notes:write'], 'notes:write': ['notes:read'], 'notes:read': ['notes:write'] },
    ],
  ])('never lead back: %s would imply itself in %j', (scope, implies) => {
    expect(read(implies).issues).toEqual([
      {
        path: 'implies',
        message: `lets "${scope}" imply itself. Name only smaller scopes under a scope.`,
      },
    ])
  })

  it.each<[string, object]>([
    ['notes:raed', { 'notes:write': ['notes:raed'] }],
    ['note:write', { 'note:write': ['notes:read'] }],
    ['toString', { 'notes:write': ['toString'] }],
    ['__proto__', JSON.parse('{ "__proto__": ["notes:read"] }')],
  ])('name only scopes of the server, which %s is not', (name, implies) => {
    const message = `names "${name}", which is not a scope of this server: ${known.join(', ')}.`
    expect(read(implies).issues).toEqual([{ path: 'implies', message }])
  })

  it('name any scopes where only another process knows the scopes, a scope named __proto__ too', () => {
    const { implied, issues } = read(JSON.parse('{ "__proto__": ["a"], "b": ["__proto__"] }'), {})
    expect(issues).toEqual([])
    expect(withImplied(['b'], implied)).toEqual(['b', '__proto__', 'a'])
    expect(withImplied(['constructor'], implied)).toEqual(['constructor'])
  })

  it('do not change with what the host does to its options afterwards', () => {
    const implies = { 'notes:write': ['notes:read'] }
    const { implied } = read(implies)
    implies['notes:write'].push('profile')
    expect(withImplied(['notes:write'], implied)).toEqual(['notes:write', 'notes:read'])
  })
})

import { parseResourceOwner } from '../../lib/protocol/resource-owner'

describe('parseResourceOwner', () => {
  it.each([undefined, null, false])('takes %j for no owner', (value) => {
    expect(parseResourceOwner(value)).toBeUndefined()
  })

  it.each([
    ['a subject', 'alice', { subject: 'alice' }],
    ['a subject with a name', { subject: '7', name: 'Alice' }, { subject: '7', name: 'Alice' }],
    ['a subject without a name', { subject: '7' }, { subject: '7', name: undefined }],
    ['an empty name, for none', { subject: '7', name: '' }, { subject: '7', name: undefined }],
    ['what else a user record holds, without it', { subject: '7', password: 'x' }, { subject: '7' }],
  ])('reads %s', (_what, value, owner) => {
    expect(parseResourceOwner(value)).toEqual(owner)
  })

  it.each([[''], [0], [7], [true], [['alice']], [{}], [{ subject: '' }], [{ subject: 7 }], [{ id: '7' }]])(
    'refuses %j, which is neither an owner nor none [consent-10]',
    (value) => {
      expect(() => parseResourceOwner(value)).toThrow(TypeError)
    },
  )
})

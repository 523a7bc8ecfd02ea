import {
  canonicalResponseType,
  isResponseTypeName,
  responseTypeNamed,
} from '../../lib/protocol/response-type'

const code = { name: 'code', grantTypes: ['authorization_code'] }
const both = { name: 'code token', grantTypes: ['authorization_code', 'implicit'] }

describe('isResponseTypeName', () => {
  it.each(['code', 'id_token', 'code id_token token', 'A9_'])('takes %j', (name) => {
    expect(isResponseTypeName(name)).toBe(true)
  })

  it.each(['', ' ', ' code', 'code ', 'a  b', 'a\tb', 'a\n', 'a-b', 'é', 'code code'])(
    'refuses %j',
    (name) => {
      expect(isResponseTypeName(name)).toBe(false)
    },
  )
})

describe('canonicalResponseType and responseTypeNamed', () => {
  it('make nothing of the order of values (AUZ-5)', () => {
    expect(canonicalResponseType('token code')).toBe(canonicalResponseType('code token'))
    expect(responseTypeNamed('token code', [code, both])).toBe(both)
  })

  it.each(['token', 'code code', 'code  token', 'Code', ''])('find nothing by %j', (name) => {
    expect(responseTypeNamed(name, [code, both])).toBeUndefined()
  })
})

import { whoami } from '../../docs/examples/whoami'
import { mistakesWith, pathsWith } from '../support/rooms/mistakes'

const withEndpoints = (...endpoints: readonly unknown[]) => mistakesWith({ endpoints })

describe('the option endpoints', () => {
  it('takes endpoints with names and paths of their own', () => {
    const registration = {
      name: 'registration',
      path: '/register',
      body: 'json',
      clientAuthentication: 'none',
      errorStatus: { invalid_token: 401 },
      metadata: { registration_note: 'x', registration_notes: ['y'], registration_open: true },
      handle: async () => ({ members: {} }),
    }
    expect(withEndpoints(whoami, registration)).toEqual([])
  })

  it.each<[string, object, string]>([
    ['no name', { name: undefined }, '.name'],
    ['a name in capitals', { name: 'Whoami' }, '.name'],
    ['a name with a hyphen', { name: 'who-am-i' }, '.name'],
    ['the name of a prototype', { name: '__proto__' }, '.name'],
    ['no path', { path: undefined }, '.path'],
    ['a path that no URL has', { path: 'whoami' }, '.path'],
    ['a path with a query', { path: '/whoami?x' }, '.path'],
    ['another method', { method: 'PATCH' }, '.method'],
    ['no method at all', { method: [] }, '.method'],
    ['a method twice', { method: ['GET', 'GET'] }, '.method'],
    ['another method among others', { method: ['GET', 'PATCH'] }, '.method'],
    ['a body of a DELETE', { method: ['GET', 'DELETE'], body: 'json' }, '.body'],
    ['a listing that is neither', { listed: 'no' }, '.listed'],
    ['a method in small letters', { method: 'get' }, '.method'],
    ['another body', { method: 'POST', body: 'xml' }, '.body'],
    ['a body of a GET', { body: 'json' }, '.body'],
    ['origins of its own', { cors: { origins: ['https://app.example'] } }, '.cors'],
    ['another way of authentication', { clientAuthentication: true }, '.clientAuthentication'],
    ['a status that is no error', { errorStatus: { slow_down: 200 } }, '.errorStatus'],
    ['a status that is no number', { errorStatus: { slow_down: '400' } }, '.errorStatus'],
    ['metadata that no document can have', { metadata: { x: 7 } }, '.metadata'],
    ['no handle', { handle: undefined }, '.handle'],
    ['a member that is not known', { handler: 7 }, '.handler'],
  ])('refuses %s', (_what, bend, field) => {
    expect(pathsWith({ endpoints: [{ ...whoami, ...bend }] })).toEqual([`endpoints[0]${field}`])
  })

  it.each([null, 7, 'whoami', []])('refuses %j in place of an endpoint', (endpoint) => {
    expect(pathsWith({ endpoints: [endpoint] })).toEqual(['endpoints[0]'])
  })

  it('reports every mistake of every endpoint at once', () => {
    const faulty = { ...whoami, name: 7, method: 'PATCH' }
    expect(pathsWith({ endpoints: [faulty, whoami, faulty] })).toEqual([
      'endpoints[0].name',
      'endpoints[0].method',
      'endpoints[1].path',
      'endpoints[2].name',
      'endpoints[2].path',
      'endpoints[2].method',
    ])
  })

  it('refuses a name that another endpoint has', () => {
    for (const name of ['authorization', 'token', 'revocation', 'introspection'])
      expect(withEndpoints({ ...whoami, name })).toEqual([
        { path: 'endpoints[0].name', message: `is "${name}", which another endpoint has already.` },
      ])
    expect(pathsWith({ endpoints: [whoami, { ...whoami, path: '/other' }] })).toEqual(['endpoints[1].name'])
  })

  it('refuses a path that another endpoint has, whichever option says so', () => {
    expect(withEndpoints({ ...whoami, path: '/token' })).toEqual([
      { path: 'endpoints[0].path', message: 'must differ from paths.token.' },
    ])
    expect(mistakesWith({ endpoints: [whoami], paths: { introspection: '/whoami' } })).toEqual([
      { path: 'endpoints[0].path', message: 'must differ from paths.introspection.' },
    ])
    expect(withEndpoints(whoami, { ...whoami, name: 'me' })).toEqual([
      { path: 'endpoints[1].path', message: 'must differ from endpoints[0].path.' },
    ])
    expect(pathsWith({ endpoints: [{ ...whoami, path: '/.well-known/openid-configuration' }] })).toEqual([
      'endpoints[0].path',
    ])
  })
})

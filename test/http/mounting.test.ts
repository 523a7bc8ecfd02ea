import { part } from '../../lib/http/router'
import { ConfigurationError } from '../../lib/protocol/configuration'

describe('part', () => {
  it('makes when it is called with nothing', () => {
    expect(part('token', () => 'made')()).toBe('made')
  })

  it('says what to do when it is mounted uncalled, as middleware or as error handling', () => {
    const make = jest.fn()
    const mounted: (...given: readonly unknown[]) => unknown = part('token', make)
    for (const given of [[{}, {}, () => undefined], [new Error('x'), {}, {}, () => undefined], [undefined]]) {
      const attempt = () => mounted(...given)
      expect(attempt).toThrow(ConfigurationError)
      expect(attempt).toThrow('oauth.token makes the middleware and is not one itself: mount oauth.token().')
    }
    expect(make).not.toHaveBeenCalled()
  })

  it('has no parameters, so that Express never takes it for error handling', () => {
    expect(part('token', () => undefined)).toHaveLength(0)
  })
})

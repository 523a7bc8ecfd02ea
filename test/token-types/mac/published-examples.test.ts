import { macOf, normalizedRequest } from '../../../lib/token-types/mac'

const authority = { host: 'example.com', port: '80' }
const key = '489dks293j39'

// The MACs that other implementations compute for the examples of the drafts; the drafts' own are known to be wrong.
describe('the MAC of the example', () => {
  test('with an age, as oauthlib has it', () => {
    const request = { method: 'GET', target: '/resource/1?b=1&a=2' }
    const parts = { ts: undefined, nonce: '264095:dj83hs9s', ext: '' }
    const text = normalizedRequest(parts, request, authority)
    expect(text).toBe('264095:dj83hs9s\nGET\n/resource/1?b=1&a=2\nexample.com\n80\n\n\n')
    expect(macOf(text, key, 'hmac-sha-1')).toBe('SLDJd4mg43cjQfElUs3Qub4L6xE=')
  })

  test('with a timestamp, by GET and by POST', () => {
    const macs = ['GET', 'POST'].map((method) => {
      const parts = { ts: '1336363200', nonce: 'dj83hs9s', ext: '' }
      const text = normalizedRequest(parts, { method, target: '/resource/1?b=1&a=2' }, authority)
      return macOf(text, key, 'hmac-sha-1')
    })
    expect(macs).toEqual(['6T3zZzy2Emppni6bzL7kdRxUWL4=', 'SIBz/j9mI1Ba2Y+10wdwbQGv2Yk='])
  })

  test('with SHA-256 and another host', () => {
    const parts = { ts: '1336363200', nonce: 'dj83hs9s', ext: '' }
    const request = { method: 'GET', target: '/resource/1?b=1&a=2' }
    const text = normalizedRequest(parts, request, { host: 'www.example.com', port: '80' })
    expect(macOf(text, key, 'hmac-sha-256')).toBe('lZWElzYo0LJevKwPpSXTWl73KR/mPzI/FVe/XLAv6GE=')
  })

  test('with an extension and an awkward query, as draft-ietf-oauth-v2-http-mac-01 writes it', () => {
    const parts = { ts: '264095', nonce: '7d8f3e4a', ext: 'a,b,c' }
    const target = '/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q'
    expect(normalizedRequest(parts, { method: 'POST', target }, authority)).toBe(
      '264095\n7d8f3e4a\nPOST\n/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b&c2&a3=2+q\nexample.com\n80\na,b,c\n',
    )
  })
})

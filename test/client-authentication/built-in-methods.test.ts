import * as fc from 'fast-check'
import { clientSecretBasic, parseBasicCredentials } from '../../lib/client-authentication/basic'
import { clientSecretPost, none } from '../../lib/client-authentication/built-in-methods'
import { generateClientSecret, SecretVerifier } from '../../lib/client-authentication/client-secret'
import { clientWith } from '../support/authorization/client'
import { thrownBy } from '../support/authorization/thrown'
import { authenticatingServer } from '../support/rooms/authenticating-server'
import { anyText } from '../support/rooms/arbitrary-text'
import { basic, rawBasic } from '../support/rooms/credentials'
import { parametersOf } from '../support/rooms/parameters'
import { freely } from '../support/rooms/secrets'

describe('parseBasicCredentials: the header', () => {
  it.each([
    '',
    'Bearer YTpi',
    'Digest YTpi',
    'NotBasic YTpi',
    'Basically YTpi',
    'Basic\tYTpi',
    ' Basic YTpi',
  ])('leaves %j to other methods', (header) => {
    expect(parseBasicCredentials(header)).toBeUndefined()
  })

  it.each(['Basic YTpi', 'basic YTpi', 'BASIC YTpi', 'bAsIc YTpi'])(
    'knows the scheme in %j, whatever its case',
    (header) => {
      expect(parseBasicCredentials(header)).toEqual({ clientId: 'a', secret: 'b' })
    },
  )

  it.each(['Basic   YTpi', 'Basic YTpi  '])('takes %j with more spaces than needed', (header) => {
    expect(parseBasicCredentials(header)).toEqual({ clientId: 'a', secret: 'b' })
  })

  it.each([
    ['nothing but the scheme', 'Basic'],
    ['nothing after the space', 'Basic '],
    ['two values', 'Basic YTpi YTpi'],
    ['a list', 'Basic YTpi,YTpi'],
    ['a parameter', 'Basic realm="oauth"'],
    ['quotes', 'Basic "YTpi"'],
    ['padding in the middle', 'Basic Y=Tpi'],
    ['nothing but padding', 'Basic ===='],
    ['text that is not base64', 'Basic a:b'],
    ['a letter that is not ASCII', 'Basic YTpié'],
    ['a tab behind the value', 'Basic YTpi\t'],
    ['no colon', rawBasic('client')],
    ['a colon that is form encoded', rawBasic('client%3Asecret')],
    ['no client', rawBasic(':secret')],
    ['nothing but a colon', rawBasic(':')],
    ['Latin-1', rawBasic(Buffer.from('a:\xE9', 'latin1'))],
    ['UTF-8 that is cut', rawBasic(Buffer.from('a:é').subarray(0, 3))],
    ['a surrogate in UTF-8', rawBasic(Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80]))],
    ['an overlong NUL', rawBasic(Buffer.from([0x61, 0x3a, 0xc0, 0x80]))],
  ])('refuses %s', (_what, header) => {
    expect(thrownBy(() => parseBasicCredentials(header))).toMatchObject({
      code: 'invalid_client',
      reason: 'basic_malformed',
    })
  })

  // RFC 7617 2: base64 as in RFC 4648 4. `.` and `~` are letters of token68, not of base64.
  it.each(['Basic YT~pi', 'Basic YT.pi', 'Basic YTpi....'])(
    'refuses %j, which holds letters that base64 does not have [input-9]',
    (header) => {
      expect(thrownBy(() => parseBasicCredentials(header))).toHaveProperty('reason', 'basic_malformed')
    },
  )

  it('reads base64 without its padding', () => {
    expect(parseBasicCredentials('Basic YTpiYw')).toEqual({ clientId: 'a', secret: 'bc' })
  })

  it('reads base64 of the URL alphabet, which some clients send', () => {
    const text = Buffer.from('a:>>>???')
    expect(text.toString('base64url')).not.toBe(text.toString('base64'))
    for (const spelling of ['base64', 'base64url'] as const)
      expect(parseBasicCredentials(`Basic ${text.toString(spelling)}`)?.secret).toBe('>>>???')
  })
})

describe('parseBasicCredentials: both halves', () => {
  it('gives back any identifier and secret that were form encoded', () => {
    fc.assert(
      fc.property(anyText, anyText, (clientId, secret) => {
        expect(parseBasicCredentials(basic(clientId, secret))).toEqual({ clientId, secret })
      }),
    )
  })

  it('gives back any that were percent encoded as components', () => {
    fc.assert(
      fc.property(anyText, anyText, (clientId, secret) => {
        const header = rawBasic(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`)
        expect(parseBasicCredentials(header)).toEqual({ clientId, secret })
      }),
    )
  })

  it('gives back any that were sent raw and hold nothing that form encoding would change', () => {
    const raw = anyText.filter((text) => !/[%+]/.test(text))
    fc.assert(
      fc.property(raw, raw, (id, secret) => {
        const clientId = id.replaceAll(':', '.')
        expect(parseBasicCredentials(rawBasic(`${clientId}:${secret}`))).toEqual({ clientId, secret })
      }),
    )
  })

  it.each([
    ['a second colon in a raw secret', 'a:b:c', 'a', 'b:c'],
    ['nothing but colons for a secret', 'a:::', 'a', '::'],
    ['a colon in an encoded identifier', 'a%3Ab:c', 'a:b', 'c'],
    ['a plus as a space', 'a+b:c+d', 'a b', 'c d'],
    ['an encoded plus', 'a%2Bb:c%2Bd', 'a+b', 'c+d'],
    ['an encoded percent', 'a%25:b%2525', 'a%', 'b%25'],
    ['a percent that stands alone', '100%:5% off', '100%', '5% off'],
    ['a percent at the end of a triplet', 'a%20%:b%', 'a %', 'b%'],
    ['a percent before what is not hexadecimal', 'a%zz:b%2g', 'a%zz', 'b%2g'],
    ['triplets that are not UTF-8', 'a%FF:b%C3%28', 'a%FF', 'b%C3%28'],
    ['triplets in lower case', 'a%c3%a9:b%e2%82%ac', 'aé', 'b€'],
    ['raw letters beside triplets', 'é%C3%A9:ü%20', 'éé', 'ü '],
    ['a NUL, raw and encoded', 'a\0b:c%00d', 'a\0b', 'c\0d'],
    ['an empty secret', 'a:', 'a', ''],
    ['spaces at the ends', ' a : b ', ' a ', ' b '],
    ['an emoji', '🖨:🔑', '🖨', '🔑'],
  ])('reads %s', (_what, text, clientId, secret) => {
    expect(parseBasicCredentials(rawBasic(text))).toEqual({ clientId, secret })
  })

  it('takes a byte order mark for a part of the identifier, which is exact', () => {
    expect(parseBasicCredentials(rawBasic('\uFEFFclient:secret'))?.clientId).toBe('\uFEFFclient')
  })
})

const secrets = new SecretVerifier(Date.now)
const byBasic = clientSecretBasic(secrets)
const byPost = clientSecretPost(secrets)
const sources = (authorization: readonly string[], body: Readonly<Record<string, string>> = {}) => ({
  authorization,
  body: parametersOf(body),
  query: parametersOf({ client_id: 'query', client_secret: 'query' }),
  certificate: undefined,
})

describe('client_secret_basic', () => {
  it('has the name of the registry and the scheme of its challenge', () => {
    expect(byBasic).toMatchObject({ name: 'client_secret_basic', scheme: 'Basic' })
  })

  it('reads the header and nothing else', () => {
    const claim = { clientId: 'printer', credential: 'a:b' }
    expect(byBasic.read(sources([rawBasic('printer:a:b')]))).toEqual(claim)
    expect(byBasic.read(sources([], { client_id: 'printer', client_secret: 'a:b' }))).toBeUndefined()
  })

  it.each([
    ['no header', []],
    ['another scheme', ['Bearer token']],
    ['no secret', [basic('printer', '')]],
  ])('is not used with %s', (_what, authorization) => {
    expect(byBasic.read(sources(authorization))).toBeUndefined()
  })

  it('refuses what is malformed', () => {
    expect(thrownBy(() => byBasic.read(sources(['Basic !'])))).toHaveProperty('code', 'invalid_client')
  })
})

describe('client_secret_post', () => {
  it('has the name of the registry and no scheme', () => {
    expect(byPost.name).toBe('client_secret_post')
    expect(byPost.scheme).toBeUndefined()
  })

  it('reads the body and nothing else', () => {
    const body = { client_id: 'printer', client_secret: 'a b%+' }
    expect(byPost.read(sources([], body))).toEqual({ clientId: 'printer', credential: 'a b%+' })
    expect(byPost.read(sources([basic('printer', 'secret')]))).toBeUndefined()
  })

  it.each([{}, { client_id: 'printer' }, { client_id: 'printer', client_secret: '' }])(
    'is not used by %j',
    (body) => {
      expect(byPost.read(sources([], body))).toBeUndefined()
    },
  )
})

describe('both', () => {
  it.each([byBasic, byPost])('verify by the secrets of the client ($name)', async (method) => {
    const { client_secret, client_secret_hash } = generateClientSecret()
    const client = clientWith({ client_secret_hashes: [client_secret_hash] })
    await expect(method.verify(client, client_secret, freely, authenticatingServer())).resolves.toBe(true)
    await expect(method.verify(client, 'wrong', freely, authenticatingServer())).resolves.toBe(false)
    await expect(method.verify(undefined, client_secret, freely, authenticatingServer())).resolves.toBe(false)
  })
})

const read = (authorization: readonly string[], body: Readonly<Record<string, string>> = {}) =>
  none.read({ authorization, body: parametersOf(body), query: parametersOf(), certificate: undefined })

describe('none', () => {
  it.each([
    ['client_id in the body', [], { client_id: 'phone' }],
    ['Basic without a secret', [basic('phone', '')], {}],
    ['Basic, before client_id', [basic('phone', '')], { client_id: 'other' }],
  ])('reads the name of a client from %s', (_where, authorization, body) => {
    expect(read(authorization, body)).toEqual({ clientId: 'phone', credential: '' })
  })

  it('reads nothing where no client is named', () => {
    expect(read([])).toBeUndefined()
    expect(read(['Bearer token'])).toBeUndefined()
  })

  it.each([
    [
      'a public client without credentials',
      clientWith({ client_type: 'public', client_secret_hashes: [] }),
      true,
    ],
    ['a public client with credentials', clientWith({ client_type: 'public' }), false],
    ['a confidential client', clientWith(), false],
    ['an unknown client', undefined, false],
  ])('holds for %s: %s', async (_who, client, proven) => {
    await expect(none.verify(client, '', freely, authenticatingServer())).resolves.toBe(proven)
  })
})

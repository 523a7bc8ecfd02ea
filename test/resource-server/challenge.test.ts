import { OptionsReader } from '../../lib/primitives/options-reader'
import {
  type Challenge,
  type ChallengeAttributes,
  readChallenge,
  usualChallenge,
  writeChallenge,
} from '../../lib/resource-server/challenge'

function read(options: object, defaults: Challenge = usualChallenge) {
  const reading = new OptionsReader(options, '')
  const challenge = readChallenge(reading, defaults)
  reading.refuseUnknown()
  return { challenge, issues: reading.issues }
}

const error = { error: 'insufficient_scope', error_description: 'Too little.' }
const written = ({ challenge }: { challenge: Challenge }, own: ChallengeAttributes = { scope: 'a b' }) =>
  writeChallenge('Bearer', challenge, own, error)

describe('the challenge of a guard', () => {
  it('names realm and attributes of the host, behind what the refusal says', () => {
    const options = { realm: 'my photos', attributes: { acr_values: 'urn:example:mfa', max_age: '300' } }
    expect(written(read(options))).toBe(
      'Bearer realm="my photos", scope="a b", error="insufficient_scope", error_description="Too little.", acr_values="urn:example:mfa", max_age="300"',
    )
  })

  it('has the attributes of the error behind those of the guard, and prefers them, whatever the case', () => {
    const guard = read({ attributes: { acr_values: 'a', max_age: '300' } })
    expect(written(guard, { Max_Age: '5', scope: 'a' })).toBe(
      'Bearer realm="oauth", scope="a", error="insufficient_scope", error_description="Too little.", acr_values="a", Max_Age="5"',
    )
  })

  it('names scheme and metadata, and no error for a request without a token', () => {
    const challenge = { ...usualChallenge, resourceMetadata: 'https://photos.example/metadata' }
    expect(writeChallenge('MAC', challenge, {}, {})).toBe(
      'MAC realm="oauth", resource_metadata="https://photos.example/metadata"',
    )
  })

  it('has what all guards have, unless the guard says otherwise', () => {
    const { challenge: defaults } = read({ realm: 'photos', attributes: { one: '1', two: '2' } })
    expect(read({}, defaults).challenge).toEqual(defaults)
    const { challenge } = read({ attributes: { TWO: '3', three: '4' } }, defaults)
    expect(challenge.realm).toBe('photos')
    expect([...challenge.attributes]).toEqual([
      ['one', '1'],
      ['TWO', '3'],
      ['three', '4'],
    ])
    expect([...defaults.attributes.keys()]).toEqual(['one', 'two'])
  })

  it.each([
    ['"'],
    ['\\'],
    ['a"b'],
    ['a\r\nSet-Cookie: x'],
    ['é'],
    [''],
    [7],
    [null],
    [['a']],
    ['\t'],
    ['\x7F'],
  ])('holds no %j: neither as realm nor as attribute', (value) => {
    const message = 'must be a text of printable ASCII without quotes and backslashes.'
    expect(read({ realm: value, attributes: { a: value } }).issues).toEqual([
      { path: 'realm', message },
      { path: 'attributes.a', message },
    ])
  })

  it.each([
    'realm',
    'scope',
    'error',
    'error_description',
    'error_uri',
    'resource_metadata',
    'Scope',
    'ERROR',
  ])('keeps %s for the guard itself', (name) => {
    expect(read({ attributes: { [name]: 'a' } }).issues).toEqual([
      { path: `attributes.${name}`, message: 'is an attribute that the guard itself sets.' },
    ])
  })

  it.each(['', 'a b', 'a=b', 'a,b', 'a"', 'é', 'a\n', 'a:b', '('])('has no attribute named %j', (name) => {
    expect(read({ attributes: { [name]: 'a' } }).issues).toEqual([
      { path: 'attributes', message: 'must have names that are tokens (RFC 9110 5.6.2).' },
    ])
  })

  it('has each attribute once: letter case does not count', () => {
    expect(read({ attributes: { acr: '1', ACR: '2' } }).issues).toEqual([
      {
        path: 'attributes.ACR',
        message: 'occurs twice: letter case does not count (RFC 9110 11.2).',
      },
    ])
  })

  it.each([[null], [7], ['a'], [['a']], [true]])('takes no %j for attributes', (attributes) => {
    expect(read({ attributes }).issues).toEqual([
      { path: 'attributes', message: "must be an object of names and texts, as in { a: 'b' }." },
    ])
  })
})

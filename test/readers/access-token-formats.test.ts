import {
  type AuthorizationServerOptions,
  ConfigurationError,
  createAuthorizationServer,
  createBearerGuard,
  memoryStore,
  type PlugIn,
} from '../../lib/index'
import { bearer } from '../../lib/extensions/token-types/bearer'
import { canonicalOptions } from '../support/flows/application'
import { signedFormat } from '../support/flows/signed-format'

function mistakesOf(make: () => unknown): readonly string[] {
  try {
    make()
    return []
  } catch (error) {
    if (error instanceof ConfigurationError)
      return error.issues.map(({ path, message }) => `${path} ${message}`)
    throw error
  }
}

const ofServer = (options: object) =>
  mistakesOf(() => createAuthorizationServer({ ...canonicalOptions, ...options }))
const ofGuard = (options: object) =>
  mistakesOf(() => createBearerGuard({ issuer: 'http://localhost', store: memoryStore(), ...options }))

const signed = signedFormat('signed')
const plugIn = (parts: Pick<AuthorizationServerOptions, 'accessTokenFormats'>): PlugIn => ({
  name: 'signing',
  open: () => parts,
  openInGuard: () => parts,
})

test('each format has a name of its own, and none is opaque', () => {
  expect(ofServer({ accessTokenFormats: [signed, signedFormat('other')] })).toEqual([])
  expect(ofServer({ accessTokenFormats: [signed, signed] })).toEqual([
    'accessTokenFormats[1].name is "signed", which another format has already.',
  ])
  expect(ofServer({ accessTokenFormats: [signedFormat('opaque')] })).toEqual([
    'accessTokenFormats[0].name is "opaque", which stands for tokens without a format.',
  ])
  expect(
    ofServer({ accessTokenFormats: [signed], plugIns: [plugIn({ accessTokenFormats: [signed] })] }),
  ).toEqual(['plugIns[0].accessTokenFormats[0].name is "signed", which another format has already.'])
})

test('a guard needs a format that reads, and a server one that writes, too', () => {
  const reader = { name: 'signed', decode: (text: string) => signed.decode(text) }
  expect(ofGuard({ accessTokenFormats: [reader] })).toEqual([])
  expect(ofServer({ accessTokenFormats: [reader] })).toEqual([
    'accessTokenFormats must be a list of access token formats, each with name, encode and decode.',
  ])
  for (const wrong of [null, [null], [{ name: 'x' }], [{ ...reader, name: '' }]])
    expect(ofGuard({ accessTokenFormats: wrong })).toEqual([
      'accessTokenFormats must be a list of access token formats, each with name and decode.',
    ])
  expect(ofGuard({ plugIns: [plugIn({ accessTokenFormats: [signed] })] })).toEqual([])
})

test.each<[string, object]>([
  ['extensions', { prepare: 7 }],
  ['extensions', { atTokenResponse: 'x' }],
  ['extensions', { exposedHeaders: 'DPoP-Nonce' }],
  ['extensions', { exposedHeaders: ['a b'] }],
  ['tokenTypes', { challenge: {} }],
  ['tokenTypes', { opaque: 'yes' }],
  ['tokenTypes', { exposedHeaders: [''] }],
])('%s with %p are a mistake', (option, bend) => {
  const one = option === 'extensions' ? { name: 'own' } : { ...bearer, name: 'own', scheme: 'Own' }
  expect(ofServer({ [option]: [{ ...one, ...bend }] })).toEqual([
    expect.stringMatching(`^${option} must be a list of`),
  ])
  expect(ofGuard({ [option]: [{ ...one, ...bend }] })).toEqual([
    expect.stringMatching(`^${option} must be a list of`),
  ])
})

import { generateKeyPairSync } from 'node:crypto'
import type * as suite from '../../../../lib/index'
import { saml2Bearer, type Saml2BearerOptions } from '../../../../lib/index'
import { ConfigurationError } from '../../../../lib/protocol/configuration'
import { noon } from '../../../support/authorization/issue-context'
import { encoded, signedXml, studio } from '../../../support/saml/assertion'
import { counter, options } from '../../../support/saml/grant'

// A method, so that the checker lets a JavaScript host's options through, whatever they are.
const javascript: { create(options: unknown): unknown } = { create: saml2Bearer }

function issuesIn(given: unknown): readonly string[] {
  try {
    javascript.create(given)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues.map(({ path }) => path)
    throw error
  }
  return []
}

const mistakesWith = (bend: object) => issuesIn({ ...options, ...bend })
const withCertificates = (...certificates: readonly unknown[]) =>
  mistakesWith({ issuers: [{ issuer: 'https://a.example', certificates }] })
const pem = (type: 'public' | 'private', pair: ReturnType<typeof pairs.small>) =>
  type === 'public'
    ? pair.publicKey.export({ type: 'spki', format: 'pem' })
    : pair.privateKey.export({ type: 'pkcs8', format: 'pem' })

const pairs = {
  strong: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  small: () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  curve: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  edwards: () => generateKeyPairSync('ed25519'),
}

function missing(): never {
  throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' })
}

describe('saml2Bearer()', () => {
  it('is the grant type of RFC 7522, with the parameters of its two extra fields', () => {
    expect(saml2Bearer(options)).toMatchObject({
      name: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
      parameters: ['assertion', 'scope'],
    })
  })

  it('lists every mistake with its path', () => {
    expect(issuesIn({ clockTolerance: -1, maximumLifetime: 0, certificate: 'x' })).toEqual([
      'issuers',
      'audience',
      'recipient',
      'resourceOwner',
      'clockTolerance',
      'maximumLifetime',
      'certificate',
    ])
    expect(issuesIn(undefined)).toContain('options')
  })

  it.each<[string, object, readonly string[]]>([
    ['no issuer', { issuers: [] }, ['issuers']],
    [
      'an issuer that is none',
      { issuers: ['x'] },
      ['issuers[0]', 'issuers[0].issuer', 'issuers[0].certificates'],
    ],
    [
      'an issuer without keys',
      { issuers: [{ issuer: 'https://a.example', certificates: [] }] },
      ['issuers[0].certificates'],
    ],
    ['an issuer twice', { issuers: [studio.entry, studio.entry] }, ['issuers[1].issuer']],
    ['a misspelt field', { issuers: [{ ...studio.entry, cert: 'x' }] }, ['issuers[0].cert']],
    ['a recipient that is no URL', { recipient: '/token' }, ['recipient']],
    ['an empty audience', { audience: '' }, ['audience']],
    ['half a second', { clockTolerance: 0.5 }, ['clockTolerance']],
    ['a tolerance of 301 seconds', { clockTolerance: 301 }, ['clockTolerance']],
    ['a lifetime of more than a day', { maximumLifetime: 86_401 }, ['maximumLifetime']],
  ])('refuses %s', (_, bend, paths) => {
    expect(mistakesWith(bend)).toEqual(paths)
  })

  it.each<[string, unknown]>([
    ['text', 'MIIDDTCCAfWgAwIBAgIU'],
    ['a broken certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    ['two in one', studio.entry.certificates.join('').repeat(2)],
    ['a private key', pem('private', pairs.strong())],
    ['RSA of 1024 bits', pem('public', pairs.small())],
    ['a curve of other trades', pem('public', pairs.curve())],
    ['Ed25519', pem('public', pairs.edwards())],
  ])('refuses a certificate that is %s, and says where', (_, certificate) => {
    expect(withCertificates(studio.entry.certificates[0], certificate)).toEqual([
      'issuers[0].certificates[1]',
    ])
  })

  it('names the packages to install when they are missing', () => {
    jest.isolateModules(() => {
      jest.doMock('xml-crypto', missing)
      const fresh: Pick<typeof suite, 'saml2Bearer'> = require('../../../../lib/index')
      expect(() => fresh.saml2Bearer(options)).toThrow('npm install xml-crypto@6 @xmldom/xmldom@0.8')
      jest.dontMock('xml-crypto')
    })
  })

  it('asks the host with what was proven, and believes nobody whom the host does not know', async () => {
    const asked: Parameters<Saml2BearerOptions['resourceOwner']>[] = []
    const { present } = counter({
      resourceOwner(...question) {
        asked.push(question)
        return undefined
      },
    })
    await expect(present(encoded(signedXml({ now: noon })))).rejects.toMatchObject({
      reason: 'assertion_subject_refused',
    })
    expect(asked).toEqual([
      [
        expect.objectContaining({ subject: 'alice', issuer: studio.entry.issuer, id: '_a1' }),
        expect.objectContaining({ client_id: 'photo-printer' }),
      ],
    ])
  })
})

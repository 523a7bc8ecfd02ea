import { aTextThat } from '../../../primitives/fields'
import {
  type Fields,
  group,
  kind,
  needed,
  type Place,
  readOptions,
  someRows,
} from '../../../primitives/schema'
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { isText } from '../../../primitives/values'
import type { Plugin } from '../../../doors/plug-in'
import { assertionFields, assertionGrant, type AssertionOptions } from '../assertion'
import { readAssertion } from './read-assertion'
import { loadXmlLibraries } from './xml-document'

export interface Saml2BearerOptions extends AssertionOptions {
  /** The trusted issuers, at least one. */
  readonly issuers: readonly SamlIssuer[]
  /** The entity id of this server: every `AudienceRestriction` must name it exactly. */
  readonly audience: string
  /** The URL of the token endpoint: the `Recipient` of a bearer confirmation. */
  readonly recipient: string
}

/**
 * SAML 2.0 bearer assertions, `urn:ietf:params:oauth:grant-type:saml2-bearer` (RFC 7522). An assertion of a
 * trusted issuer about a resource owner gives one access token, once, and no refresh token. It has at most 48
 * KiB.
 *
 * The host installs `xml-crypto` and `@xmldom/xmldom`.
 *
 * @throws ConfigurationError that lists every mistake, or names the packages to install.
 */
export function saml2Bearer(options: Saml2BearerOptions): Plugin {
  const { issuers, audience, recipient, ...terms } = readOptions('saml2Bearer()', fields, options)
  const libraries = loadXmlLibraries()
  const grantType = assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
    ...terms,
    async verify(assertion, now) {
      const expected = { audience, recipient, latestStart: now + terms.clockTolerance }
      return readAssertion(assertion, issuers, expected, libraries)
    },
  })
  return { name: 'saml2-bearer', grantTypes: [grantType] }
}

export interface SamlIssuer {
  /** The entity id: `Issuer` of an assertion. */
  readonly issuer: string
  /**
   * Certificates or public keys in PEM: RSA of at least 2048 bits, or EC on P-256, P-384 or P-521. List
   * several while the issuer changes its key. The server ignores dates and issuer of a certificate.
   */
  readonly certificates: readonly string[]
}

const samlIssuer = group({
  issuer: needed('', aTextThat('must be the entity id of the issuer.')),
  certificates: someRows(certificate, 'certificate in PEM'),
} satisfies Fields<SamlIssuer>)
const listed = someRows(samlIssuer, '{ issuer, certificates }')

const fields = {
  issuers: samlIssuers,
  audience: needed('', aTextThat("must be this server's entity id.")),
  recipient: needed(
    '',
    kind(
      (value): value is string => isText(value) && URL.canParse(value),
      'must be the URL of the token endpoint.',
    ),
  ),
  ...assertionFields,
} satisfies Fields<Saml2BearerOptions>

function samlIssuers(given: unknown, at: Place, name: string): ReadonlyMap<string, readonly KeyObject[]> {
  const issuers = new Map<string, readonly KeyObject[]>()
  for (const [index, { issuer, certificates }] of listed(given, at, name).entries()) {
    if (issuers.has(issuer))
      at.wrong(`${name}[${index}].issuer`, 'is listed twice: put all of its certificates into one entry.')
    issuers.set(issuer, certificates)
  }
  return issuers
}

function certificate(given: unknown, at: Place, name: string): KeyObject | undefined {
  const key = isText(given) ? publicKeyOf(given) : undefined
  if (key === undefined)
    at.wrong(name, 'must be one certificate or public key in PEM, from -----BEGIN to -----END.')
  else if (isStrong(key)) return key
  else at.wrong(name, 'must hold an RSA key of at least 2048 bits, or an EC key on P-256, P-384 or P-521.')
  return undefined
}

function publicKeyOf(pem: string): KeyObject | undefined {
  const labels = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label]) => label)
  try {
    if (labels.length !== 1) return undefined
    if (labels[0] === 'CERTIFICATE') return new X509Certificate(pem).publicKey
    // `createPublicKey` also accepts a private key.
    return labels[0]?.endsWith('PUBLIC KEY') ? createPublicKey(pem) : undefined
  } catch {
    return undefined
  }
}

const curves: ReadonlySet<unknown> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

function isStrong({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve } = asymmetricKeyDetails
  return asymmetricKeyType === 'rsa'
    ? modulusLength >= 2048
    : asymmetricKeyType === 'ec' && curves.has(namedCurve)
}

import { isText, OptionsReader } from '../../../protocol/configuration'
import type { GrantType } from '../../grant-type'
import { assertionGrant } from '../assertion/assertion-grant'
import { readAssertionTerms, type AssertionOptions } from '../assertion/assertion-terms'
import { readAssertion } from './read-assertion'
import { readSamlIssuers, type SamlIssuer } from './trusted-issuers'
import { loadXmlLibraries } from './xml-libraries'

export interface Saml2BearerOptions extends AssertionOptions {
  /** Whose assertions are taken, each with its keys. */
  readonly issuers: readonly SamlIssuer[]
  /** This server's entity id: every `AudienceRestriction` must name it. */
  readonly audience: string
  /** The URL of the token endpoint: a bearer confirmation must name it as its `Recipient`. */
  readonly recipient: string
}

/**
 * SAML 2.0 bearer assertions as an authorization grant (RFC 7522): a client presents what a trusted issuer signed
 * about a resource owner, and gets an access token without a refresh token. Each assertion is good once.
 *
 * It needs the packages `xml-crypto` and `@xmldom/xmldom`.
 *
 * @throws ConfigurationError listing every mistake, or naming the packages to install.
 */
export function saml2Bearer(options: Saml2BearerOptions): GrantType {
  const reading = new OptionsReader(options, '')
  const issuers = readSamlIssuers(reading)
  const audience = reading.required('audience', '', isText, "must be this server's entity id.")
  const recipient = reading.required('recipient', '', isUrl, 'must be the URL of the token endpoint.')
  const terms = readAssertionTerms(reading)
  reading.refuseUnknown()
  reading.settle('saml2Bearer() cannot work with these options:')
  const libraries = loadXmlLibraries()
  return assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
    ...terms,
    async verify(assertion, now) {
      const expected = { audience, recipient, latestStart: now + terms.clockTolerance }
      return readAssertion(assertion, issuers, expected, libraries)
    },
  })
}

const isUrl = (value: unknown): value is string => isText(value) && URL.canParse(value)

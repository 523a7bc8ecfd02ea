import { isText, Reading } from '../../../protocol/configuration'
import type { GrantType } from '../../grant-type'
import type { OwnerOfAssertion } from '../assertion/assertion'
import { assertionGrant } from '../assertion/assertion-grant'
import { readAssertion } from './read-assertion'
import { readIssuers, type SamlIssuer } from './trusted-issuers'
import { loadXmlLibraries } from './xml-libraries'

export interface Saml2BearerOptions {
  /** Whose assertions are taken, each with its keys. */
  readonly issuers: readonly SamlIssuer[]
  /** This server's entity id: every `AudienceRestriction` must name it. */
  readonly audience: string
  /** The URL of the token endpoint: a bearer confirmation must name it as its `Recipient`. */
  readonly recipient: string
  /** Tells which resource owner an assertion is about. */
  readonly resourceOwner: OwnerOfAssertion
  /** How far clocks may differ, in seconds, 0 to 300. Default 30. */
  readonly clockTolerance?: number
  /** How far ahead an assertion may end, in seconds. Default 3600; its use is remembered for so long. */
  readonly maximumLifetime?: number
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
  const reading = new Reading(options, '')
  const issuers = readIssuers(reading)
  const audience = reading.required('audience', '', isText, "must be this server's entity id.")
  const recipient = reading.required('recipient', '', isUrl, 'must be the URL of the token endpoint.')
  const resourceOwner = reading.required<OwnerOfAssertion>(
    'resourceOwner',
    () => undefined,
    isOwnerOfAssertion,
    'must be a function of an assertion and a client that returns a subject.',
  )
  const clockTolerance = reading.optional(
    'clockTolerance',
    30,
    isSeconds(0, 300),
    'must be whole seconds, 0 to 300.',
  )
  const maximumLifetime = reading.optional(
    'maximumLifetime',
    3600,
    isSeconds(1, 86_400),
    'must be whole seconds, 1 to 86400.',
  )
  reading.refuseUnknown()
  reading.settle('saml2Bearer() cannot work with these options:')
  const libraries = loadXmlLibraries()
  return assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
    resourceOwner,
    clockTolerance,
    maximumLifetime,
    async verify(assertion, now) {
      const expected = { audience, recipient, latestStart: now + clockTolerance }
      return readAssertion(assertion, issuers, expected, libraries)
    },
  })
}

const isUrl = (value: unknown): value is string => isText(value) && URL.canParse(value)
const isOwnerOfAssertion = (value: unknown): value is OwnerOfAssertion => typeof value === 'function'
const isSeconds =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most

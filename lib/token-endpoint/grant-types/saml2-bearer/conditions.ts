import { refused } from './refused'
import { childrenOf, instantOf, isSaml, onlyChildOf, textOf } from './saml'
import type { Element } from './xml-document'

/** What an assertion must say to be for this server, now. */
export interface Expectation {
  readonly audience: string
  readonly recipient: string
  /** The latest beginning that is not in the future, in seconds since the epoch. */
  readonly latestStart: number
}

/** Checks the conditions (RFC 7522 3, items 2 and 5; SAML Core 2.5). @returns their end, if they have one. */
export function endOfConditions(assertion: Element, expected: Expectation): number | undefined {
  const conditions = onlyChildOf(assertion, 'Conditions')
  if (conditions === undefined) throw refused('saml_audience_wrong')
  // SAML Core 2.5.1: what is not understood makes the assertion neither valid nor invalid.
  if (
    !conditions.children.every((child) => isSaml(child, 'AudienceRestriction') || isSaml(child, 'OneTimeUse'))
  )
    throw refused('saml_condition_unknown')
  const restrictions = childrenOf(conditions, 'AudienceRestriction')
  // SAML Core 2.5.1.4: several audiences are alternatives, several restrictions are not.
  const isMeant = (restriction: Element) =>
    childrenOf(restriction, 'Audience').some((audience) => textOf(audience) === expected.audience)
  if (restrictions.length === 0 || !restrictions.every(isMeant)) throw refused('saml_audience_wrong')
  requireBegun(conditions, 'NotBefore', expected)
  return instantOf(conditions, 'NotOnOrAfter')
}

/** Refuses what begins in the future. */
export function requireBegun(element: Element, attribute: string, { latestStart }: Expectation): void {
  if (!hasBegun(element, attribute, latestStart)) throw refused('saml_not_yet_valid')
}

const hasBegun = (element: Element, attribute: string, latestStart: number) =>
  (instantOf(element, attribute) ?? latestStart) <= latestStart

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'

/**
 * Finds the confirmation that lets this client present the assertion to this server (RFC 7522 3, item 5): any one
 * of them is enough. @returns its end.
 */
export function endOfConfirmation(subject: Element, { recipient, latestStart }: Expectation): number {
  const ends = childrenOf(subject, 'SubjectConfirmation')
    .filter((confirmation) => confirmation.attributes.get('Method') === bearer)
    .flatMap((confirmation) => childrenOf(confirmation, 'SubjectConfirmationData'))
    .filter((data) => data.attributes.get('Recipient') === recipient)
    .filter((data) => hasBegun(data, 'NotBefore', latestStart))
    .map((data) => instantOf(data, 'NotOnOrAfter'))
    .filter((end) => end !== undefined)
  if (ends.length === 0) throw refused('saml_confirmation_missing')
  return Math.max(...ends)
}

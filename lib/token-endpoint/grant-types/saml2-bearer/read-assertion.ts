import type { Assertion } from '../assertion/assertion'
import { attributesOf } from './attributes'
import { endOfConditions, endOfConfirmation, requireBegun, type Expectation } from './conditions'
import { decodeAssertion } from './encoded-assertion'
import { refused } from './refused'
import { isSaml, onlyChildOf, textOf } from './saml'
import { signatureOf } from './signature-form'
import { signedElement } from './signed-element'
import type { IssuerKeys } from './trusted-issuers'
import { everyElement, parseElement, type Element } from './xml-document'
import type { XmlLibraries } from './xml-libraries'
import { plainXml } from './xml-text'

/**
 * Proves an assertion (RFC 7522 3) in three steps: the document as it came is only good to find the signature and
 * to choose the keys; the signature yields the bytes that were signed; what is believed is read from those.
 *
 * @throws OAuthError `invalid_grant`.
 */
export function readAssertion(
  encoded: string,
  issuers: ReadonlyMap<string, IssuerKeys>,
  expected: Expectation,
  libraries: XmlLibraries,
): Assertion {
  const presented = parseElement(plainXml(decodeAssertion(encoded)), libraries)
  const { id, issuer } = headOf(presented)
  const signature = signatureOf(presented)
  const keys = issuers.get(issuer)
  if (keys === undefined) throw refused('saml_issuer_unknown')
  const signed = signedElement(presented, id, signature, keys, libraries)
  const head = headOf(signed)
  // The keys of one issuer prove nothing for another, nor a signature of one assertion for the next.
  if (head.issuer !== issuer || head.id !== id) throw refused('saml_signature_wrong')
  return { ...head, ...bodyOf(signed, expected) }
}

// An xs:ID, in the letters that issuers use.
const idGrammar = /^[A-Za-z_][\w.-]{0,255}$/

function headOf(root: Element): { readonly id: string; readonly issuer: string } {
  const id = root.attributes.get('ID')
  // SAML Core 2.6: advice may hold further assertions, which here would only be mistaken for this one.
  const isAlone = everyElement(root).filter(({ name }) => name.endsWith('Assertion')).length === 1
  if (!isSaml(root, 'Assertion') || root.attributes.get('Version') !== '2.0' || !isAlone)
    throw refused('saml_not_one_assertion')
  const issuer = textOf(onlyChildOf(root, 'Issuer'))
  if (id === undefined || !idGrammar.test(id) || !issuer) throw refused('saml_not_one_assertion')
  return { id, issuer }
}

function bodyOf(root: Element, expected: Expectation): Omit<Assertion, 'issuer' | 'id'> {
  const subject = onlyChildOf(root, 'Subject')
  const name = subject && textOf(onlyChildOf(subject, 'NameID'))
  if (subject === undefined || name === undefined || name.trim() === '') throw refused('saml_subject_missing')
  requireBegun(root, 'IssueInstant', expected)
  const ends = [endOfConfirmation(subject, expected), endOfConditions(root, expected) ?? Infinity]
  return { subject: name, expiresAt: Math.min(...ends), claims: attributesOf(root) }
}

import type { KeyObject } from 'node:crypto'
import { refused } from './refused'
import { digesters, tableOf, verifiersWith } from './signature-algorithms'
import { envelopedSignature, exclusiveCanonicalization } from './signature-form'
import { parseElement, type Element } from './xml-document'
import type { XmlLibraries } from './xml-libraries'
import { plainXml } from './xml-text'

/**
 * Verifies the signature, and reads the element anew from the very bytes that were signed: whatever differs between
 * the document and its canonical form, no difference reaches what is believed.
 *
 * @throws OAuthError `invalid_grant`.
 */
export function signedElement(
  text: string,
  signature: Element,
  keys: readonly [KeyObject, ...KeyObject[]],
  libraries: XmlLibraries,
): Element {
  const [signed, ...others] = signedTexts(text, signature, keys, libraries)
  if (signed === undefined || others.length > 0) throw refused('saml_signature_wrong')
  return parseElement(plainXml(signed), libraries)
}

function signedTexts(
  text: string,
  signature: Element,
  keys: readonly [KeyObject, ...KeyObject[]],
  { SignedXml }: XmlLibraries,
): readonly string[] {
  const verification = new SignedXml({ publicCert: keys[0], getCertFromKeyInfo: () => null })
  verification.SignatureAlgorithms = verifiersWith(keys)
  verification.HashAlgorithms = digesters()
  verification.CanonicalizationAlgorithms = tableOf(
    Object.entries(verification.CanonicalizationAlgorithms).filter(([name]) => allowedTransforms.has(name)),
  )
  try {
    verification.loadSignature(signature.node)
    // After a throw nothing is read from it: before 6.3 the library kept what it had not verified.
    return verification.checkSignature(text) ? verification.getSignedReferences() : []
  } catch (cause) {
    throw refused('saml_signature_wrong', cause)
  }
}

const allowedTransforms: ReadonlySet<string> = new Set([envelopedSignature, exclusiveCanonicalization])

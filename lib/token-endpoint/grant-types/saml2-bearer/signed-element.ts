import { createHash } from 'node:crypto'
import { refused } from './refused'
import { isSignedWith } from './signature-algorithms'
import { readSignedInfo, type Signature } from './signature-form'
import type { IssuerKeys } from './trusted-issuers'
import { parseElement, type Element } from './xml-document'
import type { XmlElement, XmlLibraries } from './xml-libraries'
import { plainXml } from './xml-text'

/**
 * Verifies the signature over its parent (XML Signature 3.2), and reads the parent anew from the very bytes that were
 * signed: whatever differs between the document and its canonical form, no difference reaches what is believed.
 *
 * @throws OAuthError `invalid_grant`.
 */
export function signedElement(
  root: Element,
  id: string,
  { element, signedInfo, value }: Signature,
  keys: IssuerKeys,
  libraries: XmlLibraries,
): Element {
  const text = canonical(signedInfo.node, [], libraries)
  const { algorithm } = readSignedInfo(signedInfo, id)
  // Before anything in it is followed: nobody but the issuer gives this server work to do.
  if (!isSignedWith(keys, algorithm, text, value)) throw refused('saml_signature_wrong')
  const signed = readSignedInfo(parseElement(plainXml(text), libraries), id)
  root.node.removeChild(element.node)
  const content = canonical(root.node, signed.inclusivePrefixes, libraries)
  if (!createHash(signed.digestAlgorithm).update(content).digest().equals(signed.digest))
    throw refused('saml_signature_wrong')
  return parseElement(plainXml(content), libraries)
}

/** Exclusive canonical XML without comments. */
function canonical(
  element: XmlElement,
  inclusiveNamespacesPrefixList: readonly string[],
  { ExclusiveCanonicalization }: XmlLibraries,
): string {
  return new ExclusiveCanonicalization().process(element, { inclusiveNamespacesPrefixList })
}

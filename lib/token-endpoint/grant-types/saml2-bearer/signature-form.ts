import { refused } from './refused'
import { digestAlgorithms, signatureAlgorithms } from './signature-algorithms'
import { everyElement, type Element } from './xml-document'

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
export const envelopedSignature = `${dsig}enveloped-signature`
export const exclusiveCanonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#'

const base64 = /^[A-Za-z0-9+/=\s]+$/
const prefixList = /^[A-Za-z_][\w.-]*(?: [A-Za-z_][\w.-]*)*$/

/**
 * The one signature of an assertion, in the one form that SAML has for it (SAML Core 5.4): it covers its parent as a
 * whole, through a reference to its ID and two transforms. What XML Signature can do beyond is what forgeries are
 * made of.
 *
 * @throws OAuthError `invalid_grant`.
 */
export function signatureOf(root: Element, id: string): Element {
  const signatures = everyElement(root).filter((each) => each.namespace === dsig && each.name === 'Signature')
  const [signature] = signatures
  if (signature === undefined) throw refused('saml_unsigned')
  if (signatures.length > 1 || !root.children.includes(signature)) throw refused('saml_signature_form')
  const [signedInfo, value, keyInfo, ...others] = signature.children
  if (!isSignedInfo(signedInfo, id) || !isDsig(value, 'SignatureValue') || !base64.test(value.text))
    throw refused('saml_signature_form')
  // What is in it names keys, and keys come from the options alone.
  if ((keyInfo !== undefined && !isDsig(keyInfo, 'KeyInfo')) || others.length > 0)
    throw refused('saml_signature_form')
  return signature
}

function isSignedInfo(element: Element | undefined, id: string): boolean {
  if (!isDsig(element, 'SignedInfo')) return false
  const [canonicalization, method, reference, ...others] = element.children
  return (
    isDsig(canonicalization, 'CanonicalizationMethod') &&
    canonicalization.children.length === 0 &&
    algorithmOf(canonicalization) === exclusiveCanonicalization &&
    isDsig(method, 'SignatureMethod') &&
    method.children.length === 0 &&
    signatureAlgorithms.has(algorithmOf(method)) &&
    isReference(reference, id) &&
    others.length === 0
  )
}

function isReference(element: Element | undefined, id: string): boolean {
  if (!isDsig(element, 'Reference') || element.attributes.get('URI') !== `#${id}`) return false
  const [transforms, method, value, ...others] = element.children
  return (
    isDsig(transforms, 'Transforms') &&
    isEnvelopedAndExclusive(transforms.children) &&
    isDsig(method, 'DigestMethod') &&
    method.children.length === 0 &&
    digestAlgorithms.has(algorithmOf(method)) &&
    isDsig(value, 'DigestValue') &&
    base64.test(value.text) &&
    others.length === 0
  )
}

function isEnvelopedAndExclusive([enveloped, exclusive, ...others]: readonly Element[]): boolean {
  return (
    isDsig(enveloped, 'Transform') &&
    algorithmOf(enveloped) === envelopedSignature &&
    enveloped.children.length === 0 &&
    isDsig(exclusive, 'Transform') &&
    algorithmOf(exclusive) === exclusiveCanonicalization &&
    isPrefixList(exclusive.children) &&
    others.length === 0
  )
}

// Shibboleth and others list the prefixes that stand in texts, such as xs in xsi:type="xs:string".
function isPrefixList([list, ...others]: readonly Element[]): boolean {
  if (list === undefined) return true
  return (
    list.namespace === exclusiveCanonicalization &&
    list.name === 'InclusiveNamespaces' &&
    list.children.length === 0 &&
    prefixList.test(list.attributes.get('PrefixList') ?? '') &&
    others.length === 0
  )
}

function isDsig(element: Element | undefined, name: string): element is Element {
  return element?.namespace === dsig && element.name === name
}

/** Its only attribute: a library may take one of another vocabulary for it. */
function algorithmOf({ attributes }: Element): string {
  return attributes.size === 1 ? (attributes.get('Algorithm') ?? '') : ''
}

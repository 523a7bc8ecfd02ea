import { refused } from './refused'
import { digestAlgorithms, signatureAlgorithms, type SignatureAlgorithm } from './signature-algorithms'
import { everyElement, type Element } from './xml-document'

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const envelopedSignature = `${dsig}enveloped-signature`
const exclusiveCanonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#'

const base64 = /^[A-Za-z0-9+/=\s]+$/
const prefixList = /^[A-Za-z_][\w.-]*(?: [A-Za-z_][\w.-]*)*$/

export interface Signature {
  readonly element: Element
  readonly signedInfo: Element
  readonly value: Buffer
}

/** What a signature covers, and by which algorithms. */
export interface SignedInfo {
  readonly algorithm: SignatureAlgorithm
  readonly digestAlgorithm: string
  readonly digest: Buffer
  /** Prefixes whose declarations are covered even where no name uses them. */
  readonly inclusivePrefixes: readonly string[]
}

/**
 * Finds the one signature of an assertion: a child of it, in the one form that SAML has for it (SAML Core 5.4). What
 * XML Signature can do beyond is what forgeries are made of.
 *
 * @throws OAuthError `invalid_grant`.
 */
export function signatureOf(root: Element): Signature {
  const [element, ...more] = everyElement(root).filter((each) => isDsig(each, 'Signature'))
  if (element === undefined) throw refused('saml_unsigned')
  const [signedInfo, value, keyInfo, ...others] = element.children
  const sound =
    more.length === 0 &&
    root.children.includes(element) &&
    isDsig(signedInfo, 'SignedInfo') &&
    isDsig(value, 'SignatureValue') &&
    // What is in it names keys, and keys come from the options alone.
    (keyInfo === undefined || isDsig(keyInfo, 'KeyInfo')) &&
    others.length === 0
  if (!sound) throw refused('saml_signature_form')
  return { element, signedInfo, value: bytesOf(value) }
}

/** Reads a `SignedInfo` with one reference, to the element of this ID as a whole, and nothing else. */
export function readSignedInfo(element: Element, id: string): SignedInfo {
  const [canonicalization, method, reference, ...others] = element.children
  const [transforms, digestMethod, digestValue, ...more] = reference?.children ?? []
  const algorithm = signatureAlgorithms.get(algorithmOf(method, 'SignatureMethod'))
  const digestAlgorithm = digestAlgorithms.get(algorithmOf(digestMethod, 'DigestMethod'))
  const sound =
    isDsig(element, 'SignedInfo') &&
    algorithmOf(canonicalization, 'CanonicalizationMethod') === exclusiveCanonicalization &&
    isDsig(reference, 'Reference') &&
    reference.attributes.get('URI') === `#${id}` &&
    isDsig(transforms, 'Transforms') &&
    isDsig(digestValue, 'DigestValue') &&
    others.length === 0 &&
    more.length === 0
  if (!sound || algorithm === undefined || digestAlgorithm === undefined) throw refused('saml_signature_form')
  const inclusivePrefixes = readTransforms(transforms)
  return { algorithm, digestAlgorithm, digest: bytesOf(digestValue), inclusivePrefixes }
}

function readTransforms({ children: [enveloped, exclusive, ...others] }: Element): readonly string[] {
  const sound =
    algorithmOf(enveloped, 'Transform') === envelopedSignature &&
    isDsig(exclusive, 'Transform') &&
    exclusive.attributes.get('Algorithm') === exclusiveCanonicalization &&
    others.length === 0
  if (!sound) throw refused('saml_signature_form')
  return readPrefixes(exclusive)
}

// Shibboleth and others list the prefixes that stand in texts, such as xs in xsi:type="xs:string".
function readPrefixes({ children: [list, ...others] }: Element): readonly string[] {
  if (list === undefined) return []
  const prefixes = list.attributes.get('PrefixList') ?? ''
  const sound =
    list.namespace === exclusiveCanonicalization &&
    list.name === 'InclusiveNamespaces' &&
    list.children.length === 0 &&
    prefixList.test(prefixes) &&
    others.length === 0
  if (!sound) throw refused('saml_signature_form')
  return prefixes.split(' ')
}

function isDsig(element: Element | undefined, name: string): element is Element {
  return element?.namespace === dsig && element.name === name
}

/** The algorithm of an element that says nothing else, and so has no parameters. */
function algorithmOf(element: Element | undefined, name: string): string {
  if (!isDsig(element, name) || element.attributes.size !== 1 || element.children.length > 0) return ''
  return element.attributes.get('Algorithm') ?? ''
}

function bytesOf({ text, children }: Element): Buffer {
  if (children.length > 0 || !base64.test(text)) throw refused('saml_signature_form')
  return Buffer.from(text, 'base64')
}

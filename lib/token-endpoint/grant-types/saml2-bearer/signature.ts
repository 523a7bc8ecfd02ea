import { refused } from '../../../protocol/refusals'
import { createHash, type KeyObject, verify } from 'node:crypto'
import { type Element, everyElement, parseElement, type XmlElement, type XmlLibraries } from './xml-document'

/** XML Signature 3.2. Parses the exact bytes that the issuer signed again: the canonical form may differ. */
export function signedElement(
  root: Element,
  id: string,
  { element, signedInfo, value }: ReturnType<typeof signatureOf>,
  keys: readonly KeyObject[],
  libraries: XmlLibraries,
): Element {
  const text = canonical(signedInfo.node, [], libraries)
  const { algorithm } = readSignedInfo(signedInfo, id)
  // First: only the issuer may cause more work.
  if (!isSignedWith(keys, algorithm, text, value)) throw refused('saml_signature_wrong')
  const signed = readSignedInfo(parseElement(text, libraries), id)
  root.node.removeChild(element.node)
  const content = canonical(root.node, signed.inclusivePrefixes, libraries)
  if (!createHash(signed.digestAlgorithm).update(content).digest().equals(signed.digest))
    throw refused('saml_signature_wrong')
  return parseElement(content, libraries)
}

/** Exclusive, without comments. */
function canonical(
  element: XmlElement,
  inclusiveNamespacesPrefixList: readonly string[],
  { ExclusiveCanonicalization }: XmlLibraries,
): string {
  return new ExclusiveCanonicalization().process(element, { inclusiveNamespacesPrefixList })
}

const dsig = 'http://www.w3.org/2000/09/xmldsig#'
const envelopedSignature = `${dsig}enveloped-signature`
const exclusiveCanonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#'

const base64 = /^[A-Za-z0-9+/=\s]+$/
const prefixList = /^[A-Za-z_][\w.-]*(?: [A-Za-z_][\w.-]*)*$/

/** The one form of SAML Core 5.4. Forgeries use what XML Signature allows beyond it. */
export function signatureOf(root: Element) {
  const [element, ...more] = everyElement(root).filter((each) => isDsig(each, 'Signature'))
  if (element === undefined) throw refused('saml_unsigned')
  const [signedInfo, value, keyInfo, ...others] = element.children
  const sound =
    more.length === 0 &&
    root.children.includes(element) &&
    isDsig(signedInfo, 'SignedInfo') &&
    isDsig(value, 'SignatureValue') &&
    // Keys come only from the options.
    (keyInfo === undefined || isDsig(keyInfo, 'KeyInfo')) &&
    others.length === 0
  if (!sound) throw refused('saml_signature_form')
  return { element, signedInfo, value: bytesOf(value) }
}

/** Exactly one reference, to the whole element with this ID. */
function readSignedInfo(element: Element, id: string) {
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

// The signature covers their declarations even if no name uses them: Shibboleth lists xs for
// xsi:type="xs:string".
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

const isDsig = (element: Element | undefined, name: string): element is Element =>
  element?.namespace === dsig && element.name === name

function algorithmOf(element: Element | undefined, name: string): string {
  if (!isDsig(element, name) || element.attributes.size !== 1 || element.children.length > 0) return ''
  return element.attributes.get('Algorithm') ?? ''
}

function bytesOf({ text, children }: Element): Buffer {
  if (children.length > 0 || !base64.test(text)) throw refused('saml_signature_form')
  return Buffer.from(text, 'base64')
}

type Hash = 'sha256' | 'sha384' | 'sha512'

interface SignatureAlgorithm {
  readonly keyType: 'rsa' | 'ec'
  readonly hash: Hash
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#'

/** SHA-1 and DSA are too weak. HMAC would take the public key for the secret. */
const signatureAlgorithms: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [`${more}rsa-sha256`, { keyType: 'rsa', hash: 'sha256' }],
  [`${more}rsa-sha384`, { keyType: 'rsa', hash: 'sha384' }],
  [`${more}rsa-sha512`, { keyType: 'rsa', hash: 'sha512' }],
  [`${more}ecdsa-sha256`, { keyType: 'ec', hash: 'sha256' }],
  [`${more}ecdsa-sha384`, { keyType: 'ec', hash: 'sha384' }],
  [`${more}ecdsa-sha512`, { keyType: 'ec', hash: 'sha512' }],
])

const digestAlgorithms: ReadonlyMap<string, Hash> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  [`${more}sha384`, 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

function isSignedWith(
  keys: readonly KeyObject[],
  { keyType, hash }: SignatureAlgorithm,
  text: string,
  signature: Buffer,
): boolean {
  const data = Buffer.from(text)
  // RFC 4050 3.3 and XML Signature 1.1: two numbers in a row.
  return keys.some(
    (key) =>
      key.asymmetricKeyType === keyType && verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature),
  )
}

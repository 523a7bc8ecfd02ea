import { createHash, createHmac, createPublicKey, sign } from 'node:crypto'
import { noon } from '../../support/noon'
import {
  assertionXml,
  attributeXml,
  audienceXml,
  conditionsXml,
  dsig,
  encoded,
  enveloped,
  exclusive,
  instant,
  museum,
  recipient,
  saml,
  signatureXml,
  signedXml as signedAt,
  studio,
  transformXml,
  withSignature,
  type Pieces,
  type Signing,
} from '../../support/saml/assertion'

const now = noon
const signedXml = (bend: Partial<Pieces> = {}, signing: Partial<Signing> = {}) =>
  signedAt({ now, ...bend }, signing)
const unsigned = assertionXml({ now })
const signature = signatureXml(unsigned)

/** The assertion of which all others are forgeries. */
export const genuine = withSignature(unsigned, signature)

const evil = (id = '_evil') => assertionXml({ now, id, name: '<saml:NameID>mallory</saml:NameID>' })
const inside = (assertion: string, content: string) =>
  assertion.replace('</saml:Assertion>', () => `${content}</saml:Assertion>`)
const intoSignature = (content: string) =>
  signature.replace('</ds:Signature>', () => `<ds:Object>${content}</ds:Object></ds:Signature>`)
const response = (content: string) =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="${saml}" ID="_r1" Version="2.0">${content}</samlp:Response>`
const extensions = (content: string) => `<samlp:Extensions>${content}</samlp:Extensions>`
const changed = (search: string, replacement: string) => genuine.replace(search, () => replacement)
const inSignedInfo = (signing: Partial<Signing>) => signedXml({}, signing)

const strangersKey = createPublicKey(museum.privateKey).export({ format: 'jwk' })
const keyInfo = `<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${Buffer.from(strangersKey.n ?? '', 'base64url').toString('base64')}</ds:Modulus><ds:Exponent>AQAB</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>`
const sha1 = (text: string) => createHash('sha1').update(text).digest('base64')
const [studiosCertificate = ''] = studio.entry.certificates
const lol = Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
).join('')
const dataOf = (attributes: string) =>
  signedXml({
    confirmationData: `<saml:SubjectConfirmationData ${attributes}></saml:SubjectConfirmationData>`,
  })
const end = instant(now + 300)

const other = unsigned.replaceAll('saml:Assertion', 'saml:OldAssertion')

/** A document that must not be believed, and the reason of its refusal. */
export type Forgery = readonly [title: string, reason: string, assertion: string]
type ByReason<Document> = Readonly<Record<string, Readonly<Record<string, Document>>>>

function forged(table: ByReason<string | Buffer>): readonly Forgery[] {
  return Object.entries(table).flatMap(([reason, rows]) =>
    Object.entries(rows).map(([title, document]) => [title, reason, encoded(document)] as const),
  )
}

const hmac = (secret: string) =>
  inSignedInfo({
    signatureMethod: 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
    sign: (text) => createHmac('sha256', secret).update(text).digest(),
  })

/** An assertion wrapped around a signed one, or beside it. */
export const wrapped = forged({
  saml_not_one_assertion: {
    'XSW1: the signed response inside the signature of another': response(
      intoSignature(extensions(genuine)) + evil(),
    ),
    'XSW3: another assertion before the signed one': response(evil() + genuine),
    'XSW4: the signed assertion inside another one': response(inside(evil(), genuine)),
    'XSW5: the altered one is signed, the original stands behind': response(
      withSignature(evil(), signature) + unsigned,
    ),
    'XSW7: another assertion in Extensions': response(extensions(evil()) + genuine),
    'XSW8: the original in an Object of the altered one': withSignature(evil(), intoSignature(unsigned)),
    'the signed assertion as a child of another': inside(evil(), genuine),
    '… in its Advice': inside(evil(), `<saml:Advice>${genuine}</saml:Advice>`),
    'an envelope around the signed assertion': response(genuine),
    'an envelope with the name Assertion in a namespace of its own': `<x:Assertion xmlns:x="urn:x" ID="_x" Version="2.0">${genuine}</x:Assertion>`,
    'an encrypted assertion': `<saml:EncryptedAssertion xmlns:saml="${saml}">${signature}</saml:EncryptedAssertion>`,
  },
  saml_id_not_unique: {
    '… with the same ID': inside(withSignature(evil('_a1'), signature), unsigned),
  },
  saml_signature_form: {
    'the original under a name that only looks alike': inside(
      withSignature(evil(), signature),
      unsigned.replaceAll('saml:Assertion', 'saml:Original'),
    ),
  },
  saml_xml_forbidden: {
    'two assertions side by side': genuine + evil(),
  },
})

/** Signatures of something else, in another place or of another form. */
export const otherSignatures = forged({
  saml_unsigned: {
    'no signature': unsigned,
    'a signature of another vocabulary': genuine.replace(`xmlns:ds="${dsig}"`, 'xmlns:ds="urn:x"'),
  },
  saml_signature_form: {
    'the signature of another document': withSignature(evil(), signature),
    'two signatures': withSignature(genuine, signature),
    'a signature deeper inside': unsigned.replace('<saml:NameID>', () => `${signature}<saml:NameID>`),
    'an Object in the signature': withSignature(unsigned, intoSignature('x')),
    'two References': inSignedInfo({ references: (one) => one + one }),
    'a Reference to a child alone': signedXml(
      { name: '<saml:NameID ID="_n1">alice</saml:NameID>' },
      { uri: '#_n1' },
    ),
    'two DigestValue (CVE-2025-29775)': changed(
      '<ds:DigestValue>',
      '<ds:DigestValue>AAAA</ds:DigestValue><ds:DigestValue>',
    ),
    'a SignatureValue that is none': genuine.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>????'),
    'no transform that leaves the signature out': inSignedInfo({
      transforms: transformXml(exclusive) + transformXml(exclusive),
    }),
    'an XPath transform that leaves the subject out': inSignedInfo({
      transforms:
        transformXml(enveloped) +
        transformXml('http://www.w3.org/TR/1999/REC-xpath-19991116', '<ds:XPath>1</ds:XPath>') +
        transformXml(exclusive),
    }),
    'canonicalisation with comments': inSignedInfo({
      transforms: transformXml(enveloped) + transformXml(`${exclusive}WithComments`),
    }),
    'canonicalisation of SignedInfo with comments': inSignedInfo({
      canonicalization: `${exclusive}WithComments`,
    }),
    'an Algorithm in a vocabulary of its own': changed(
      '<ds:DigestMethod ',
      '<ds:DigestMethod ds:Algorithm="x" ',
    ),
  },
  saml_signature_wrong: {
    'the signature of another document for the same ID': withSignature(evil('_a1'), signature),
    'an altered DigestValue': genuine.replace(/<ds:DigestValue>..../, '<ds:DigestValue>AAAA'),
  },
  saml_xml_forbidden: {
    'a comment in DigestValue (CVE-2025-29775)': changed('<ds:DigestValue>', '<ds:DigestValue><!--x-->'),
  },
})

/** Signatures by other keys and by weak algorithms. */
export const otherKeys = forged({
  saml_signature_wrong: {
    'a key of its own in KeyInfo': signedXml({}, { key: museum.privateKey, keyInfo }),
    'signed by another trusted issuer': signedXml({}, { key: museum.privateKey }),
    'the issuer changed to the one that signed': signedXml({}, { key: museum.privateKey }).replace(
      studio.entry.issuer,
      museum.entry.issuer,
    ),
    'an algorithm for keys of another type': inSignedInfo({
      signatureMethod: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
    }),
  },
  saml_issuer_unknown: {
    'signed by an unknown issuer': signedXml(
      { issuer: 'https://mallory.example' },
      { key: museum.privateKey },
    ),
    'an issuer named __proto__': signedXml({ issuer: '__proto__' }),
  },
  saml_not_one_assertion: {
    'no issuer': signedXml({ issuer: '' }),
  },
  saml_signature_form: {
    'RSA with SHA-1': inSignedInfo({
      signatureMethod: `${dsig}rsa-sha1`,
      sign: (text) => sign('sha1', Buffer.from(text), studio.privateKey),
    }),
    'a digest by SHA-1': inSignedInfo({ digestMethod: `${dsig}sha1`, digestValue: sha1(unsigned) }),
    'an algorithm named constructor': inSignedInfo({ signatureMethod: 'constructor' }),
    'HMAC with the public key as its secret': hmac(studiosCertificate),
  },
})

/** What was altered after it was signed. */
export const altered = forged({
  saml_signature_wrong: {
    'an altered NameID': changed('>alice<', '>mallory<'),
    'an altered end': genuine.replaceAll(end, instant(now + 900)),
    'an attribute more': inside(genuine, attributeXml('admin', 'yes')),
  },
  saml_signature_form: {
    'an altered ID': changed('ID="_a1"', 'ID="_a2"'),
  },
  saml_id_not_unique: {
    'a further ID of another vocabulary': changed('ID="_a1"', 'ID="_a1" saml:ID="_a2"'),
    'an xml:id': changed('<saml:NameID>', '<saml:NameID xml:id="_a1">'),
    'two elements of one ID': changed('<saml:NameID>', '<saml:NameID Id="_a1">'),
  },
  saml_xml_namespace: {
    'an attribute that the canonical form leaves out': changed('<saml:NameID>', '<saml:NameID xmlnsx="1">'),
    'a namespace that ends its own declaration': changed(
      `xmlns:saml="${saml}"`,
      `xmlns:saml='${saml}" x="y'`,
    ),
    'an undeclared prefix': changed('<saml:NameID>', '<saml:NameID y:x="1">'),
    'the prefix xml bound to something else': changed('<saml:NameID>', '<saml:NameID xmlns:xml="urn:x">'),
  },
})

/** What is no plain XML, or too much of it. */
export const notXml = forged({
  saml_xml_forbidden: {
    'a comment in NameID': changed('>alice<', '>ali<!---->ce<'),
    'a processing instruction in NameID': changed('>alice<', '><?p ali?>ce<'),
    'a CDATA section in NameID': changed('>alice<', '><![CDATA[alice]]><'),
    'a DOCTYPE': `<!DOCTYPE a>${genuine}`,
    'a second XML declaration': `<?xml version="1.0"?><?xml version="1.0"?>${genuine}`,
    'another encoding by declaration': `<?xml version="1.0" encoding="UTF-7"?>${genuine}`,
    'text beside elements': changed('<saml:NameID>', 'mallory<saml:NameID>'),
    'text behind the assertion': `${genuine}x`,
  },
  saml_xml_characters: {
    'an external entity': `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${changed('alice', '&x;')}`,
    'billion laughs': `<!DOCTYPE a [<!ENTITY l0 "lol">${lol}]>${changed('alice', '&l9;')}`,
    'quadratic blowup': `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(9000)}">]>${changed('alice', '&x;'.repeat(4000))}`,
    'a byte order mark': `\uFEFF${genuine}`,
    'a NUL byte': changed('alice', 'alice\0'),
    'a signed NUL byte by reference': withSignature(
      unsigned.replace('>alice<', '>alice&#0;<'),
      signatureXml(unsigned.replace('>alice<', '>alice\0<')),
    ),
  },
  saml_encoding: {
    'UTF-16 with a byte order mark': Buffer.from(`\uFEFF${genuine}`, 'utf16le'),
    'overlong UTF-8': Buffer.concat([Buffer.from([0xc0, 0xbc]), Buffer.from(genuine.slice(1))]),
  },
  saml_signature_wrong: {
    'a NUL byte by reference': changed('alice', 'alice&#0;'),
    'a reference beyond Unicode': changed('alice', 'alice&#x110000;'),
  },
  saml_xml_bounds: {
    'nesting of 33': inside(genuine, '<a>'.repeat(32) + '</a>'.repeat(32)),
    '10 000 elements': inside(genuine, '<a/>'.repeat(10_000)),
    '33 attributes of one element': changed(
      '<saml:NameID>',
      `<saml:NameID${Array.from({ length: 33 }, (_, index) => ` a${index}=""`).join('')}>`,
    ),
  },
  saml_xml_parser: {
    'an attribute twice': changed('<saml:NameID>', '<saml:NameID a="1" a="2">'),
  },
  saml_xml_namespace: {
    'an attribute twice by two prefixes': changed(
      '<saml:NameID>',
      '<saml:NameID xmlns:a="urn:x" xmlns:b="urn:x" a:x="1" b:x="2">',
    ),
  },
})

/** Genuine assertions of another time, place or subject. */
export const forAnotherRecipient = forged({
  saml_not_one_assertion: {
    'another element of the vocabulary, signed': withSignature(other, signatureXml(other)),
    'version 1.1': signedXml({ version: '1.1' }),
    'a namespace that looks alike': withSignature(
      unsigned.replaceAll(saml, saml.replace('2.0', '1.0')),
      signature,
    ),
    'no ID': signedXml({ rootAttributes: ' Version="2.0"' }),
  },
  assertion_expired: {
    expired: signedXml({ now: now - 330 }),
    'expired by its conditions alone': signedXml({
      conditions: conditionsXml({ now, from: now - 60, until: now - 30 }),
    }),
  },
  saml_not_yet_valid: {
    'not yet valid': signedXml({ conditions: conditionsXml({ now, from: now + 31 }) }),
    'issued in the future': signedXml({ now: now + 31, conditions: conditionsXml({ now }) }),
  },
  saml_confirmation_missing: {
    'confirmed from later on': dataOf(
      `NotBefore="${instant(now + 31)}" NotOnOrAfter="${end}" Recipient="${recipient}"`,
    ),
    'no NotOnOrAfter': dataOf(`Recipient="${recipient}"`),
    'another recipient': dataOf(`NotOnOrAfter="${end}" Recipient="${recipient}/"`),
    'no recipient': dataOf(`NotOnOrAfter="${end}"`),
    'another confirmation method': signedXml({
      subject: `<saml:Subject><saml:NameID>alice</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"><saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${recipient}"></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>`,
    }),
  },
  assertion_too_long_lived: {
    'valid for too long': signedXml({
      conditions: conditionsXml({ now, until: now + 90_000 }),
      confirmationData: `<saml:SubjectConfirmationData NotOnOrAfter="${instant(now + 90_000)}" Recipient="${recipient}"></saml:SubjectConfirmationData>`,
    }),
  },
  saml_audience_wrong: {
    'another audience': signedXml({
      conditions: conditionsXml({ now, content: audienceXml('https://other.example/saml') }),
    }),
    'a second restriction to others': signedXml({
      conditions: conditionsXml({
        now,
        content: audienceXml('https://server.example/saml') + audienceXml('https://other.example/saml'),
      }),
    }),
    'no audience': signedXml({ conditions: conditionsXml({ now, content: '' }) }),
    'no conditions': signedXml({ conditions: '' }),
  },
  saml_condition_unknown: {
    'an unknown condition': signedXml({
      conditions: conditionsXml({
        now,
        content: `${audienceXml('https://server.example/saml')}<x:Moon xmlns:x="urn:x"></x:Moon>`,
      }),
    }),
  },
  saml_subject_missing: {
    'an empty NameID': signedXml({ name: '<saml:NameID></saml:NameID>' }),
    'a NameID of spaces': signedXml({ name: '<saml:NameID> </saml:NameID>' }),
    'two NameID': signedXml({ name: '<saml:NameID>alice</saml:NameID><saml:NameID>mallory</saml:NameID>' }),
    'no subject': signedXml({ subject: '' }),
    'two subjects': signedXml({
      statements: '<saml:Subject><saml:NameID>mallory</saml:NameID></saml:Subject>',
    }),
  },
})

/** What is not encoded as it must be. */
export const notEncoded: readonly Forgery[] = [
  ['an empty document', 'saml_encoding', '='],
  ['XML that is not encoded', 'saml_encoding', genuine],
  ['line wraps in the encoding', 'saml_encoding', encoded(genuine).replace(/.{76}/g, '$&\n')],
  ['both alphabets at once', 'saml_encoding', `${encoded(genuine)}-_+/`],
  [
    'a second spelling of the last byte',
    'saml_encoding',
    `${encoded('<a>b')}B`.slice(0, 6).replace(/.$/, 'R'),
  ],
  ['more than fits', 'body_too_large', 'A'.repeat(64 * 1024 + 1)],
]

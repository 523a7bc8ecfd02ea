import { createHash, createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { noon } from '../authorization/issue-context'
import {
  assertionXml,
  attributeXml,
  audienceXml,
  conditionsXml,
  dsig,
  encoded,
  enveloped,
  exclusive,
  identityProvider,
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
} from './assertion'

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

const stranger = identityProvider(studio.entry.issuer)
const strangersKey = createPublicKey(stranger.privateKey).export({ format: 'jwk' })
const keyInfo = `<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${Buffer.from(strangersKey.n ?? '', 'base64url').toString('base64')}</ds:Modulus><ds:Exponent>AQAB</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>`
const sha1 = (text: string) => createHash('sha1').update(text).digest('base64')
const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })
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

type Forgery = readonly [title: string, reason: string, assertion: string]
const xml = (title: string, reason: string, document: string | Buffer): Forgery => [
  title,
  reason,
  encoded(document),
]

const wrapped: readonly Forgery[] = [
  xml(
    'XSW1: the signed response inside the signature of another',
    'saml_not_one_assertion',
    response(intoSignature(extensions(genuine)) + evil()),
  ),
  xml(
    'XSW2: a detached signature before another response',
    'saml_not_one_assertion',
    response(signature + unsigned + evil()),
  ),
  xml('XSW3: another assertion before the signed one', 'saml_not_one_assertion', response(evil() + genuine)),
  xml(
    'XSW4: the signed assertion inside another one',
    'saml_not_one_assertion',
    response(inside(evil(), genuine)),
  ),
  xml(
    'XSW5: the altered one is signed, the original stands behind',
    'saml_not_one_assertion',
    response(withSignature(evil(), signature) + unsigned),
  ),
  xml(
    'XSW6: the original inside the signature of the altered one',
    'saml_not_one_assertion',
    response(withSignature(evil(), intoSignature(unsigned))),
  ),
  xml(
    'XSW7: another assertion in Extensions',
    'saml_not_one_assertion',
    response(extensions(evil()) + genuine),
  ),
  xml(
    'XSW8: the original in an Object of the altered one',
    'saml_not_one_assertion',
    withSignature(evil(), intoSignature(unsigned)),
  ),
  xml('the signed assertion as a child of another', 'saml_not_one_assertion', inside(evil(), genuine)),
  xml('… in its Advice', 'saml_not_one_assertion', inside(evil(), `<saml:Advice>${genuine}</saml:Advice>`)),
  xml(
    '… in an attribute of it, beside the signature',
    'saml_not_one_assertion',
    inside(withSignature(evil(), signature), `<saml:Advice>${unsigned}</saml:Advice>`),
  ),
  xml('… with the same ID', 'saml_id_not_unique', inside(withSignature(evil('_a1'), signature), unsigned)),
  xml(
    'the original under a name that only looks alike',
    'saml_signature_form',
    inside(withSignature(evil(), signature), unsigned.replaceAll('saml:Assertion', 'saml:Original')),
  ),
  xml('two assertions side by side', 'saml_xml_forbidden', genuine + evil()),
  xml('an envelope around the signed assertion', 'saml_not_one_assertion', response(genuine)),
  xml(
    'an envelope with the name Assertion in a namespace of its own',
    'saml_not_one_assertion',
    `<x:Assertion xmlns:x="urn:x" ID="_x" Version="2.0">${genuine}</x:Assertion>`,
  ),
  xml(
    'an encrypted assertion',
    'saml_not_one_assertion',
    `<saml:EncryptedAssertion xmlns:saml="${saml}">${signature}</saml:EncryptedAssertion>`,
  ),
]

const otherSignatures: readonly Forgery[] = [
  xml('no signature', 'saml_unsigned', unsigned),
  xml('the signature of another document', 'saml_signature_form', withSignature(evil(), signature)),
  xml(
    'the signature of another document for the same ID',
    'saml_signature_wrong',
    withSignature(evil('_a1'), signature),
  ),
  xml('two signatures', 'saml_signature_form', withSignature(genuine, signature)),
  xml(
    'a signature deeper inside',
    'saml_signature_form',
    unsigned.replace('<saml:NameID>', () => `${signature}<saml:NameID>`),
  ),
  xml(
    'a signature of another vocabulary',
    'saml_unsigned',
    genuine.replace(`xmlns:ds="${dsig}"`, 'xmlns:ds="urn:x"'),
  ),
  xml(
    'two SignedInfo',
    'saml_signature_form',
    changed('<ds:SignatureValue>', '<ds:SignedInfo></ds:SignedInfo><ds:SignatureValue>'),
  ),
  xml('an Object in the signature', 'saml_signature_form', withSignature(unsigned, intoSignature('x'))),
  xml('two References', 'saml_signature_form', inSignedInfo({ references: (one) => one + one })),
  xml(
    'a Manifest for a Reference',
    'saml_signature_form',
    inSignedInfo({ references: () => '<ds:Manifest></ds:Manifest>' }),
  ),
  xml('a Reference to the whole document', 'saml_signature_form', inSignedInfo({ uri: '' })),
  xml('a Reference by XPointer', 'saml_signature_form', inSignedInfo({ uri: "#xpointer(id('_a1'))" })),
  xml('a Reference elsewhere', 'saml_signature_form', inSignedInfo({ uri: 'https://mallory.example/a' })),
  xml(
    'a Reference to a child alone',
    'saml_signature_form',
    signedXml({ name: '<saml:NameID ID="_n1">alice</saml:NameID>' }, { uri: '#_n1' }),
  ),
  xml(
    'a comment in DigestValue (CVE-2025-29775)',
    'saml_xml_forbidden',
    changed('<ds:DigestValue>', '<ds:DigestValue><!--x-->'),
  ),
  xml(
    'two DigestValue (CVE-2025-29775)',
    'saml_signature_form',
    changed('<ds:DigestValue>', '<ds:DigestValue>AAAA</ds:DigestValue><ds:DigestValue>'),
  ),
  xml(
    'an altered DigestValue',
    'saml_signature_wrong',
    genuine.replace(/<ds:DigestValue>..../, '<ds:DigestValue>AAAA'),
  ),
  xml(
    'an altered SignatureValue',
    'saml_signature_wrong',
    genuine.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA'),
  ),
  xml(
    'a SignatureValue that is none',
    'saml_signature_form',
    genuine.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>????'),
  ),
  xml(
    'no transform that leaves the signature out',
    'saml_signature_form',
    inSignedInfo({ transforms: transformXml(exclusive) + transformXml(exclusive) }),
  ),
  xml(
    'a third transform',
    'saml_signature_form',
    inSignedInfo({ transforms: transformXml(enveloped) + transformXml(exclusive) + transformXml(exclusive) }),
  ),
  xml('no transforms', 'saml_signature_form', inSignedInfo({ transforms: '' })),
  xml(
    'an XSLT transform',
    'saml_signature_form',
    inSignedInfo({
      transforms: transformXml(enveloped) + transformXml('http://www.w3.org/TR/1999/REC-xslt-19991116'),
    }),
  ),
  xml(
    'an XPath transform that leaves the subject out',
    'saml_signature_form',
    inSignedInfo({
      transforms:
        transformXml(enveloped) +
        transformXml('http://www.w3.org/TR/1999/REC-xpath-19991116', '<ds:XPath>1</ds:XPath>') +
        transformXml(exclusive),
    }),
  ),
  xml(
    'a transform by base64',
    'saml_signature_form',
    inSignedInfo({ transforms: transformXml(enveloped) + transformXml(`${dsig}base64`) }),
  ),
  xml(
    'canonicalisation with comments',
    'saml_signature_form',
    inSignedInfo({ transforms: transformXml(enveloped) + transformXml(`${exclusive}WithComments`) }),
  ),
  xml(
    'canonicalisation of SignedInfo with comments',
    'saml_signature_form',
    inSignedInfo({ canonicalization: `${exclusive}WithComments` }),
  ),
  xml(
    'inclusive canonicalisation',
    'saml_signature_form',
    inSignedInfo({ canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315' }),
  ),
  xml(
    'an Algorithm in a vocabulary of its own',
    'saml_signature_form',
    changed('<ds:DigestMethod ', '<ds:DigestMethod ds:Algorithm="x" '),
  ),
]

const otherKeys: readonly Forgery[] = [
  xml(
    'a key of its own in KeyInfo',
    'saml_signature_wrong',
    signedXml({}, { key: stranger.privateKey, keyInfo }),
  ),
  xml('signed by another trusted issuer', 'saml_signature_wrong', signedXml({}, { key: museum.privateKey })),
  xml(
    'signed by an unknown issuer',
    'saml_issuer_unknown',
    signedXml({ issuer: 'https://mallory.example' }, { key: stranger.privateKey }),
  ),
  xml(
    'the issuer changed to the one that signed',
    'saml_signature_wrong',
    signedXml({}, { key: museum.privateKey }).replace(studio.entry.issuer, museum.entry.issuer),
  ),
  xml('an issuer with whitespace', 'saml_issuer_unknown', signedXml({ issuer: ` ${studio.entry.issuer}` })),
  xml('an issuer named __proto__', 'saml_issuer_unknown', signedXml({ issuer: '__proto__' })),
  xml('no issuer', 'saml_not_one_assertion', signedXml({ issuer: '' })),
  xml(
    'RSA with SHA-1',
    'saml_signature_form',
    inSignedInfo({
      signatureMethod: `${dsig}rsa-sha1`,
      sign: (text) => sign('sha1', Buffer.from(text), studio.privateKey),
    }),
  ),
  xml(
    'a digest by SHA-1',
    'saml_signature_form',
    inSignedInfo({ digestMethod: `${dsig}sha1`, digestValue: sha1(unsigned) }),
  ),
  ...[studiosCertificate, studiosCertificate.trim()].map((secret, index) =>
    xml(
      `HMAC with the public key as its secret (${index + 1})`,
      'saml_signature_form',
      inSignedInfo({
        signatureMethod: 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
        sign: (text) => createHmac('sha256', secret).update(text).digest(),
      }),
    ),
  ),
  xml(
    'DSA',
    'saml_signature_form',
    inSignedInfo({
      signatureMethod: 'http://www.w3.org/2009/xmldsig11#dsa-sha256',
      sign: (text) => sign('sha256', Buffer.from(text), dsa.privateKey),
    }),
  ),
  xml(
    'an algorithm named constructor',
    'saml_signature_form',
    inSignedInfo({ signatureMethod: 'constructor' }),
  ),
  xml(
    'an algorithm for keys of another type',
    'saml_signature_wrong',
    inSignedInfo({ signatureMethod: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256' }),
  ),
]

const altered: readonly Forgery[] = [
  xml('an altered NameID', 'saml_signature_wrong', changed('>alice<', '>mallory<')),
  xml('an altered audience', 'saml_signature_wrong', changed('/saml</saml:Audience>', '/x</saml:Audience>')),
  xml('an altered recipient', 'saml_signature_wrong', changed(`="${recipient}"`, '="https://x.example/"')),
  xml('an altered end', 'saml_signature_wrong', genuine.replaceAll(end, instant(now + 900))),
  xml('an altered attribute', 'saml_signature_wrong', changed('"mail"', '"admin"')),
  xml('an attribute more', 'saml_signature_wrong', inside(genuine, attributeXml('admin', 'yes'))),
  xml('an altered ID', 'saml_signature_form', changed('ID="_a1"', 'ID="_a2"')),
  xml(
    'a further ID of another vocabulary',
    'saml_id_not_unique',
    changed('ID="_a1"', 'ID="_a1" saml:ID="_a2"'),
  ),
  xml('an xml:id', 'saml_id_not_unique', changed('<saml:NameID>', '<saml:NameID xml:id="_a1">')),
  xml('two elements of one ID', 'saml_id_not_unique', changed('<saml:NameID>', '<saml:NameID Id="_a1">')),
  xml(
    'an attribute that the canonical form leaves out',
    'saml_xml_namespace',
    changed('<saml:NameID>', '<saml:NameID xmlnsx="1">'),
  ),
  xml(
    'a namespace that ends its own declaration',
    'saml_xml_namespace',
    changed(`xmlns:saml="${saml}"`, `xmlns:saml='${saml}" x="y'`),
  ),
  xml('an undeclared prefix', 'saml_xml_namespace', changed('<saml:NameID>', '<saml:NameID y:x="1">')),
  xml(
    'the prefix xml bound to something else',
    'saml_xml_namespace',
    changed('<saml:NameID>', '<saml:NameID xmlns:xml="urn:x">'),
  ),
]

const notXml: readonly Forgery[] = [
  xml('a comment in NameID', 'saml_xml_forbidden', changed('>alice<', '>ali<!---->ce<')),
  xml('a processing instruction in NameID', 'saml_xml_forbidden', changed('>alice<', '><?p ali?>ce<')),
  xml('a CDATA section in NameID', 'saml_xml_forbidden', changed('>alice<', '><![CDATA[alice]]><')),
  xml('a DOCTYPE', 'saml_xml_forbidden', `<!DOCTYPE a>${genuine}`),
  xml(
    'an external entity',
    'saml_xml_characters',
    `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${changed('alice', '&x;')}`,
  ),
  xml(
    'billion laughs',
    'saml_xml_characters',
    `<!DOCTYPE a [<!ENTITY l0 "lol">${lol}]>${changed('alice', '&l9;')}`,
  ),
  xml(
    'quadratic blowup',
    'saml_xml_characters',
    `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(9000)}">]>${changed('alice', '&x;'.repeat(4000))}`,
  ),
  xml('an undeclared entity', 'saml_xml_characters', changed('alice', 'alice&nbsp;')),
  xml('a stylesheet', 'saml_xml_forbidden', `<?xml-stylesheet href="x"?>${genuine}`),
  xml(
    'a second XML declaration',
    'saml_xml_forbidden',
    `<?xml version="1.0"?><?xml version="1.0"?>${genuine}`,
  ),
  xml('XML 1.1', 'saml_xml_forbidden', `<?xml version="1.1"?>${genuine}`),
  xml(
    'another encoding by declaration',
    'saml_xml_forbidden',
    `<?xml version="1.0" encoding="UTF-7"?>${genuine}`,
  ),
  xml('a byte order mark', 'saml_xml_characters', `\uFEFF${genuine}`),
  xml('UTF-16', 'saml_xml_characters', Buffer.from(genuine, 'utf16le')),
  xml('UTF-16 with a byte order mark', 'saml_encoding', Buffer.from(`\uFEFF${genuine}`, 'utf16le')),
  xml(
    'overlong UTF-8',
    'saml_encoding',
    Buffer.concat([Buffer.from([0xc0, 0xbc]), Buffer.from(genuine.slice(1))]),
  ),
  xml('Latin-1', 'saml_encoding', Buffer.from(changed('alice', 'Zoë'), 'latin1')),
  xml('a NUL byte', 'saml_xml_characters', changed('alice', 'alice\0')),
  xml('a NUL byte by reference', 'saml_signature_wrong', changed('alice', 'alice&#0;')),
  xml(
    'a signed NUL byte by reference',
    'saml_xml_characters',
    withSignature(
      unsigned.replace('>alice<', '>alice&#0;<'),
      signatureXml(unsigned.replace('>alice<', '>alice\0<')),
    ),
  ),
  xml('a reference beyond Unicode', 'saml_signature_wrong', changed('alice', 'alice&#x110000;')),
  xml('nesting of 10 000', 'saml_xml_bounds', inside(genuine, '<a>'.repeat(10_000) + '</a>'.repeat(1000))),
  xml('nesting of 33', 'saml_xml_bounds', inside(genuine, '<a>'.repeat(32) + '</a>'.repeat(32))),
  xml('10 000 elements', 'saml_xml_bounds', inside(genuine, '<a/>'.repeat(10_000))),
  xml(
    '33 attributes of one element',
    'saml_xml_bounds',
    changed(
      '<saml:NameID>',
      `<saml:NameID${Array.from({ length: 33 }, (_, index) => ` a${index}=""`).join('')}>`,
    ),
  ),
  xml(
    '1000 attributes more',
    'saml_xml_bounds',
    inside(genuine, `<a${Array.from({ length: 25 }, (_, index) => ` a${index}=""`).join('')}/>`.repeat(40)),
  ),
  xml('an attribute twice', 'saml_xml_parser', changed('<saml:NameID>', '<saml:NameID a="1" a="2">')),
  xml(
    'an attribute twice by two prefixes',
    'saml_xml_namespace',
    changed('<saml:NameID>', '<saml:NameID xmlns:a="urn:x" xmlns:b="urn:x" a:x="1" b:x="2">'),
  ),
  xml('an element that is not closed', 'saml_xml_forbidden', genuine.replace('</saml:Assertion>', '')),
  xml(
    'elements that overlap',
    'saml_xml_forbidden',
    changed('</saml:NameID></saml:Subject', '</saml:Subject></saml:NameID').replace(
      '</saml:NameID><saml:SubjectConfirmation',
      '<saml:SubjectConfirmation',
    ),
  ),
  xml('an attribute without quotation marks', 'saml_xml_forbidden', changed('Version="2.0"', 'Version=2.0')),
  xml('text beside elements', 'saml_xml_forbidden', changed('<saml:NameID>', 'mallory<saml:NameID>')),
  xml('text behind the assertion', 'saml_xml_forbidden', `${genuine}x`),
  xml('HTML', 'saml_xml_forbidden', '<!doctype html><p>hello'),
  ['an empty document', 'saml_encoding', '='],
  ['XML that is not encoded', 'saml_encoding', genuine],
  ['line wraps in the encoding', 'saml_encoding', encoded(genuine).replace(/.{76}/g, '$&\n')],
  ['both alphabets at once', 'saml_encoding', `${encoded(genuine)}-_+/`],
  [
    'a second spelling of the last byte',
    'saml_encoding',
    `${encoded('<a>b')}B`.slice(0, 6).replace(/.$/, 'R'),
  ],
  ['more than fits', 'saml_too_large', 'A'.repeat(64 * 1024 + 1)],
]

const forAnotherRecipient: readonly Forgery[] = [
  xml(
    'another element of the vocabulary, signed',
    'saml_not_one_assertion',
    withSignature(other, signatureXml(other)),
  ),
  xml('version 1.1', 'saml_not_one_assertion', signedXml({ version: '1.1' })),
  xml(
    'a namespace that looks alike',
    'saml_not_one_assertion',
    withSignature(unsigned.replaceAll(saml, saml.replace('2.0', '1.0')), signature),
  ),
  xml('no ID', 'saml_not_one_assertion', signedXml({ rootAttributes: ' Version="2.0"' })),
  xml('an ID with a quotation mark', 'saml_not_one_assertion', signedXml({ id: "_a1'" })),
  xml('expired', 'assertion_expired', signedXml({ now: now - 330 })),
  xml(
    'expired by its conditions alone',
    'assertion_expired',
    signedXml({ conditions: conditionsXml({ now, from: now - 60, until: now - 30 }) }),
  ),
  xml(
    'expired by its confirmation alone',
    'assertion_expired',
    dataOf(`NotOnOrAfter="${instant(now - 30)}" Recipient="${recipient}"`),
  ),
  xml(
    'not yet valid',
    'saml_not_yet_valid',
    signedXml({ conditions: conditionsXml({ now, from: now + 31 }) }),
  ),
  xml(
    'issued in the future',
    'saml_not_yet_valid',
    signedXml({ now: now + 31, conditions: conditionsXml({ now }) }),
  ),
  xml(
    'confirmed from later on',
    'saml_confirmation_missing',
    dataOf(`NotBefore="${instant(now + 31)}" NotOnOrAfter="${end}" Recipient="${recipient}"`),
  ),
  xml(
    'valid for too long',
    'assertion_too_long_lived',
    signedXml({
      conditions: conditionsXml({ now, until: now + 90_000 }),
      confirmationData: `<saml:SubjectConfirmationData NotOnOrAfter="${instant(now + 90_000)}" Recipient="${recipient}"></saml:SubjectConfirmationData>`,
    }),
  ),
  xml('no NotOnOrAfter', 'saml_confirmation_missing', dataOf(`Recipient="${recipient}"`)),
  xml(
    'a malformed end',
    'saml_instant_malformed',
    dataOf(`NotOnOrAfter="tomorrow" Recipient="${recipient}"`),
  ),
  xml(
    'another recipient',
    'saml_confirmation_missing',
    dataOf(`NotOnOrAfter="${end}" Recipient="${recipient}/"`),
  ),
  xml('no recipient', 'saml_confirmation_missing', dataOf(`NotOnOrAfter="${end}"`)),
  xml('no confirmation data', 'saml_confirmation_missing', signedXml({ confirmationData: '' })),
  xml(
    'another confirmation method',
    'saml_confirmation_missing',

    signedXml({
      subject: `<saml:Subject><saml:NameID>alice</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"><saml:SubjectConfirmationData NotOnOrAfter="${end}" Recipient="${recipient}"></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>`,
    }),
  ),
  xml(
    'another audience',
    'saml_audience_wrong',
    signedXml({ conditions: conditionsXml({ now, content: audienceXml('https://other.example/saml') }) }),
  ),
  xml(
    'an audience with whitespace',
    'saml_audience_wrong',
    signedXml({ conditions: conditionsXml({ now, content: audienceXml('https://server.example/saml ') }) }),
  ),
  xml(
    'a second restriction to others',
    'saml_audience_wrong',
    signedXml({
      conditions: conditionsXml({
        now,
        content: audienceXml('https://server.example/saml') + audienceXml('https://other.example/saml'),
      }),
    }),
  ),
  xml('no audience', 'saml_audience_wrong', signedXml({ conditions: conditionsXml({ now, content: '' }) })),
  xml('no conditions', 'saml_audience_wrong', signedXml({ conditions: '' })),
  xml(
    'an unknown condition',
    'saml_condition_unknown',
    signedXml({
      conditions: conditionsXml({
        now,
        content: `${audienceXml('https://server.example/saml')}<x:Moon xmlns:x="urn:x"></x:Moon>`,
      }),
    }),
  ),
  xml('an empty NameID', 'saml_subject_missing', signedXml({ name: '<saml:NameID></saml:NameID>' })),
  xml('a NameID of spaces', 'saml_subject_missing', signedXml({ name: '<saml:NameID> </saml:NameID>' })),
  xml(
    'two NameID',
    'saml_subject_missing',
    signedXml({ name: '<saml:NameID>alice</saml:NameID><saml:NameID>mallory</saml:NameID>' }),
  ),
  xml(
    'an element inside NameID',
    'saml_subject_missing',
    signedXml({ name: '<saml:NameID><saml:b></saml:b></saml:NameID>' }),
  ),
  xml(
    'an encrypted ID',
    'saml_subject_missing',
    signedXml({ name: '<saml:EncryptedID></saml:EncryptedID>' }),
  ),
  xml('no subject', 'saml_subject_missing', signedXml({ subject: '' })),
  xml(
    'two subjects',
    'saml_subject_missing',
    signedXml({ statements: '<saml:Subject><saml:NameID>mallory</saml:NameID></saml:Subject>' }),
  ),
]

/** Documents that must not be believed: each with the reason of its refusal. */
export const forgeries: readonly Forgery[] = [
  ...wrapped,
  ...otherSignatures,
  ...otherKeys,
  ...altered,
  ...notXml,
  ...forAnotherRecipient,
]

import { refused } from '../../../protocol/refusals'
import { refuseLoading } from '../../../primitives/configuration-error'

/** Has either elements or text. */
export interface Element {
  readonly namespace: string
  readonly name: string
  /** By qualified name: an `ID` of another namespace is never `ID`. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly Element[]
  readonly text: string
  readonly node: XmlElement
}

export function parseElement(text: string, { DOMParser }: XmlLibraries): Element {
  const root = parse(plainXml(text), DOMParser)
  if (!root) throw refused('saml_xml_parser')
  const element = elementOf(root)
  requireUniqueIds(element)
  return element
}

function parse(text: string, DOMParser: XmlLibraries['DOMParser']): XmlElement | null | undefined {
  try {
    return new DOMParser({ errorHandler }).parseFromString(text, 'text/xml').documentElement
  } catch (cause) {
    throw refused('saml_xml_parser', {}, { cause })
  }
}

// The parser would go on.
function errorHandler(level: string, message: unknown): never {
  throw new Error(`${level}: ${String(message)}`)
}

export const everyElement = (element: Element): readonly Element[] => [
  element,
  ...element.children.flatMap(everyElement),
]

const isElement = (node: XmlNode): node is XmlElement => node.nodeType === 1
const isText = (node: XmlNode): boolean => node.nodeType === 3

function elementOf(node: XmlElement): Element {
  const nodes = Array.from(node.childNodes)
  // The canonical form writes any node as text, which a reader of elements and texts misses.
  if (!nodes.every((child) => isElement(child) || isText(child))) throw refused('saml_xml_forbidden')
  const children = nodes.filter(isElement).map(elementOf)
  const text = nodes
    .filter(isText)
    .map(({ data = '' }) => data)
    .join('')
  if (children.length > 0 && text.trim() !== '') throw refused('saml_xml_forbidden')
  return {
    namespace: namespaceOf(node),
    name: node.localName,
    attributes: attributesOf(Array.from(node.attributes)),
    children,
    text,
    node,
  }
}

function namespaceOf({ prefix, namespaceURI }: XmlElement | XmlAttribute): string {
  if ((prefix && !namespaceURI) || prefix === 'xmlns') throw refused('saml_xml_namespace')
  return namespaceURI ?? ''
}

function attributesOf(attributes: readonly XmlAttribute[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  const seen = new Set<string>()
  for (const attribute of attributes) {
    if (attribute.name.startsWith('xmlns')) requireSoundDeclaration(attribute)
    else {
      const expanded = `${namespaceOf(attribute)} ${attribute.localName}`
      if (seen.has(expanded)) throw refused('saml_xml_namespace')
      seen.add(expanded)
      read.set(attribute.name, attribute.value)
    }
  }
  return read
}

// The canonical form does not escape a namespace: a quotation mark would end the attribute.
const namespaceGrammar = /^[!#-%'-;=?-~]*$/

function requireSoundDeclaration({ name, value }: XmlAttribute): void {
  const [word, prefix] = name.split(':')
  const sound =
    word === 'xmlns' &&
    prefix !== 'xml' &&
    prefix !== 'xmlns' &&
    (prefix === undefined || value !== '') &&
    namespaceGrammar.test(value)
  if (!sound) throw refused('saml_xml_namespace')
}

// Signature wrapping: of two elements with one ID, the signature covers one, and the server reads the other.
function requireUniqueIds(root: Element): void {
  const ids = everyElement(root).flatMap(({ attributes }) =>
    [...attributes].filter(([name]) => /^(?:.*:)?id$/i.test(name)),
  )
  if (ids.some(([name]) => name.includes(':')) || new Set(ids.map(([, id]) => id)).size < ids.length)
    throw refused('saml_id_not_unique')
}

const maximumDepth = 32
const maximumElements = 500
const maximumAttributes = 1000
const maximumAttributesOfOne = 32

const qualifiedName = String.raw`[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?`
const attribute = String.raw`[ \t\r\n]+${qualifiedName}[ \t\r\n]*=[ \t\r\n]*(?:"[^"<]*"|'[^'<]*')`
const tag = new RegExp(String.raw`<(/?)(${qualifiedName})((?:${attribute})*)[ \t\r\n]*(/?)>`, 'y')
const oneAttribute = new RegExp(attribute, 'g')
const declaration =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])[Uu][Tt][Ff]-8\2)?(?: standalone=(["'])(?:yes|no)\3)? ?\?>[ \t\r\n]*/
const strayReference = /&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)/
// Control characters, and the line ends of XML 1.1.
const unsafeCharacter =
  /[^\t\n\r\x20-\x7E\u00A0-\u2027\u2029-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u

/**
 * Admits the part of XML that all parsers read alike: elements, attributes, text, predefined and numeric
 * references. With the rest, attackers make two parsers read two documents.
 */
function plainXml(text: string): string {
  const element = text.replace(declaration, '').trimEnd()
  if (unsafeCharacter.test(element) || strayReference.test(element)) throw refused('saml_xml_characters')
  const open: string[] = []
  const count = { elements: 0, attributes: 0 }
  let position = 0
  do {
    tag.lastIndex = position
    const found = tag.exec(element)
    if (found === null) throw refused('saml_xml_forbidden')
    readTag(found, open, count)
    position = tag.lastIndex
    if (open.length > 0) position = nextTag(element, position)
  } while (open.length > 0)
  if (position !== element.length) throw refused('saml_xml_forbidden')
  return element
}

function nextTag(element: string, position: number): number {
  const next = element.indexOf('<', position)
  return next < 0 ? element.length : next
}

function readTag(
  [, closing, name = '', attributes = '', empty]: RegExpExecArray,
  open: string[],
  count: { elements: number; attributes: number },
): void {
  if (closing === '/') {
    if (attributes !== '' || empty === '/' || open.pop() !== name) throw refused('saml_xml_forbidden')
    return
  }
  const own = attributes.match(oneAttribute)?.length ?? 0
  count.elements += 1
  count.attributes += own
  if (empty !== '/') open.push(name)
  if (
    open.length > maximumDepth ||
    count.elements > maximumElements ||
    count.attributes > maximumAttributes ||
    own > maximumAttributesOfOne
  )
    throw refused('saml_xml_bounds')
}

// The types of the two libraries need the DOM types of browsers.

interface XmlAttribute {
  readonly name: string
  readonly localName: string
  readonly prefix?: string | null
  readonly namespaceURI?: string | null
  readonly value: string
}

interface XmlNode {
  readonly nodeType: number
  readonly data?: string
}

export interface XmlElement extends XmlNode {
  readonly localName: string
  readonly prefix?: string | null
  readonly namespaceURI?: string | null
  readonly attributes: ArrayLike<XmlAttribute>
  readonly childNodes: ArrayLike<XmlNode>
  removeChild(child: XmlElement): void
}

export interface XmlLibraries {
  readonly DOMParser: new (options: { errorHandler(level: string, message: unknown): void }) => {
    parseFromString(text: string, type: string): { readonly documentElement?: XmlElement | null }
  }
  readonly ExclusiveCanonicalization: new () => {
    process(
      element: XmlElement,
      options: { readonly inclusiveNamespacesPrefixList: readonly string[] },
    ): string
  }
}

export function loadXmlLibraries(): XmlLibraries {
  let name = '@xmldom/xmldom'
  try {
    const { DOMParser }: Pick<XmlLibraries, 'DOMParser'> = require('@xmldom/xmldom')
    name = 'xml-crypto'
    const canonicalizer: Pick<XmlLibraries, 'ExclusiveCanonicalization'> = require('xml-crypto')
    return { DOMParser, ExclusiveCanonicalization: canonicalizer.ExclusiveCanonicalization }
  } catch (cause) {
    const cure = 'run "npm install xml-crypto@6 @xmldom/xmldom@0.8"'
    return refuseLoading(cause, name, 'saml2Bearer() cannot read XML:', cure)
  }
}

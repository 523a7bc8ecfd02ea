import { refused } from '../../../protocol/refusals'

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
// Control characters, and the line ends of XML 1.1, which parsers of XML 1.0 do not read alike.
const unsafeCharacter =
  /[^\t\n\r\x20-\x7E\u00A0-\u2027\u2029-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u

/**
 * Admits the part of XML that all parsers read alike, before any parser gets it: elements, attributes, text,
 * predefined and numeric references. No comments, CDATA sections, processing instructions, document types or
 * entities: with them, attackers make two parsers read two documents.
 */
export function plainXml(text: string): string {
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

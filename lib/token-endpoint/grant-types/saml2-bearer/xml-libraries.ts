import { optionalPackage } from '../../../protocol/optional-package'

// What is used of the two libraries: their own declarations would bring the types of a browser along.

export interface XmlAttribute {
  readonly name: string
  readonly localName: string
  readonly prefix?: string | null
  readonly namespaceURI?: string | null
  readonly value: string
}

export interface XmlNode {
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

/** `@xmldom/xmldom` and `xml-crypto`. */
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

/** Loads both libraries, which only hosts that take SAML assertions have to install. */
export function loadXmlLibraries(): XmlLibraries {
  const missing = {
    subject: 'saml2Bearer() cannot read XML:',
    cure: 'run "npm install xml-crypto@6 @xmldom/xmldom@0.8"',
  }
  const parser = optionalPackage('@xmldom/xmldom', (): Parser => require('@xmldom/xmldom'), missing)
  const crypto = optionalPackage('xml-crypto', (): Canonicalizer => require('xml-crypto'), missing)
  return { DOMParser: parser.DOMParser, ExclusiveCanonicalization: crypto.ExclusiveCanonicalization }
}

type Parser = Pick<XmlLibraries, 'DOMParser'>
type Canonicalizer = Pick<XmlLibraries, 'ExclusiveCanonicalization'>

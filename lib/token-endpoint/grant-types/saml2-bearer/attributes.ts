import { childrenOf, textOf } from './saml'
import type { Element } from './xml-document'

/** The texts of every attribute under its name, which may be any text: `__proto__` is one of them. */
export function attributesOf(assertion: Element): Readonly<Record<string, readonly string[]>> {
  const read: Record<string, string[]> = Object.create(null)
  const attributes = childrenOf(assertion, 'AttributeStatement').flatMap((each) =>
    childrenOf(each, 'Attribute'),
  )
  for (const attribute of attributes) {
    const name = attribute.attributes.get('Name')
    if (name !== undefined) (read[name] ??= []).push(...valuesOf(attribute))
  }
  return read
}

const valuesOf = (attribute: Element): readonly string[] =>
  childrenOf(attribute, 'AttributeValue')
    .map(textOf)
    .filter((text) => text !== undefined)

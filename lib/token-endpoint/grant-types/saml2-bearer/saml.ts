import { refused } from '../../../protocol/refusals'
import type { Element } from './xml-document'

const namespace = 'urn:oasis:names:tc:SAML:2.0:assertion'

export const isSaml = (element: Element, name: string): boolean =>
  element.namespace === namespace && element.name === name

export const childrenOf = (element: Element, name: string): readonly Element[] =>
  element.children.filter((child) => isSaml(child, name))

export function onlyChildOf(element: Element, name: string): Element | undefined {
  const found = childrenOf(element, name)
  return found.length === 1 ? found[0] : undefined
}

/** Undefined for an element with child elements. */
export const elementText = (element: Element | undefined): string | undefined =>
  element === undefined || element.children.length > 0 ? undefined : element.text

// SAML Core 1.3.3: an instant is in UTC.
const instantGrammar = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z$/

/** Whole seconds since the epoch; undefined without the attribute. */
export function instantOf(element: Element, attribute: string): number | undefined {
  const text = element.attributes.get(attribute)
  if (text === undefined) return undefined
  const toTheSecond = instantGrammar.exec(text)?.[1]
  const time = Date.parse(`${toTheSecond}Z`)
  // `Date.parse` reads 30 February as a day of March.
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(`${toTheSecond}.`))
    throw refused('saml_instant_malformed')
  return time / 1000
}

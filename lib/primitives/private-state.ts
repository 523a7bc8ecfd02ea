/** Private values of objects that other code made. */
interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let kinds = 0

/**
 * Attaches a value to an object, for as long as the object lives. Other code cannot read, write or print the value:
 * it stands in a private field that the object gets later. All kinds of values share one field. So there are only two
 * hidden classes: objects with the field, and objects without it.
 *
 * A `WeakMap` would do the same. But a `WeakMap` lives long, and the quick collections of V8 keep whatever an old
 * table refers to: each request would move to the old generation.
 */
export function privateState<Holder extends object, Value>(): PrivateState<Holder, Value> {
  const kind = kinds++
  return {
    get(holder) {
      const values = PrivateField.of(holder)
      return values && Reflect.get(values, kind)
    },
    set(holder, value) {
      Reflect.set(PrivateField.of(holder) ?? PrivateField.addTo(holder), kind, value)
    },
  }
}

// The constructor returns the object that it gets. A subclass can therefore add a private field to an object that
// other code made.
// oxlint-disable-next-line typescript/no-extraneous-class
class ReturnsHolder {
  constructor(holder: object) {
    return holder
  }
}

class PrivateField extends ReturnsHolder {
  // The values, each at the index of its kind.
  readonly #values: object = []

  static of(holder: object): object | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static addTo(holder: object): object {
    return new PrivateField(holder).#values
  }
}

interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let kinds = 0

/**
 * Attaches a value to an object of other code, for as long as the object lives. Other code cannot read, write
 * or print it. All kinds of values share one private field, so there are only two hidden classes.
 *
 * A `WeakMap` lives long, and V8's quick collections keep whatever an old table refers to: each request would
 * move to the old generation.
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

// The constructor returns the object that it gets, so a subclass can add a private field to it.
// oxlint-disable-next-line typescript/no-extraneous-class
class ReturnsHolder {
  constructor(holder: object) {
    return holder
  }
}

class PrivateField extends ReturnsHolder {
  // Each value at the index of its kind.
  readonly #values: object = []

  static of(holder: object): object | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static addTo(holder: object): object {
    return new PrivateField(holder).#values
  }
}

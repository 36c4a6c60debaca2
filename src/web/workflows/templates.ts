/** Templates for new workflows. They use the sample database; replace the names of models and hosts. */
import * as texts from "#texts/workflows";

export interface Template {
  id: string;
  /** How the page names and describes it. */
  title: string;
  about: string;
  /** The name and description that a workflow made from it gets at first, whatever the language of the page. */
  name: string;
  description: string;
  tags: string[];
  /** A sentence that says what it requires besides the sample database; empty for nothing. */
  needs: string;
  /** As YAML. */
  definition: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: "query",
    title: texts.queryTitle,
    about: texts.queryAbout,
    name: "Revenue by region",
    description: "Queries a database, checks that the result is not empty, and returns the best region.",
    tags: ["sales"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    since:
      type: string
      format: date
      default: "2026-06-01"
      description: First day of the orders.
steps:
  - id: revenue
    type: sql
    description: Queries take no expressions; parameters are bound by name.
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue, COUNT(DISTINCT o.id) AS orders
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: any_orders
    type: assert
    that: steps.revenue.row_count > 0
    message: No orders since \${{ inputs.since }}.
output:
  best_region: "\${{ steps.revenue.rows[0].region }}"
  total: "\${{ steps.revenue.rows.map(r, r.revenue).sum() }}"
  regions: "\${{ steps.revenue.rows }}"
examples:
  - name: June 2026
    inputs: { since: "2026-06-01" }
    expect: { best_region: west }
`,
  },
  {
    id: "schedule",
    title: texts.dailyTitle,
    about: texts.dailyAbout,
    name: "Unpaid orders every morning",
    description: "Runs on weekday mornings and lists the unpaid orders.",
    tags: ["sales", "daily"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    until:
      type: string
      description: Last day of the orders, for example 2026-06-28.
      default: "2026-06-28"
steps:
  - id: unpaid
    type: sql
    database: shop
    query: |
      SELECT o.id, c.name AS customer, o.ordered_on, o.status
      FROM orders o JOIN customers c ON c.id = o.customer_id
      WHERE o.status <> 'paid' AND o.ordered_on <= date(:until)
      ORDER BY o.ordered_on
      LIMIT 200
    params: { until: "\${{ inputs.until }}" }
    retry: { attempts: 3, initial: 5s }
  - id: by_customer
    type: set
    values:
      customers: "\${{ steps.unpaid.rows.map(r, r.customer).unique() }}"
output:
  orders: "\${{ steps.unpaid.rows }}"
  customers: "\${{ steps.by_customer.customers }}"
schedule:
  cron: "0 7 * * MON-FRI"
  timezone: Europe/Berlin
  inputs: { until: "\${{ run.scheduled_for }}" }
  overlap: skip
`,
  },
  {
    id: "model",
    title: texts.modelTitle,
    about: texts.modelAbout,
    name: "Revenue in two sentences",
    description: "Summarizes the rows of a query with a model, and validates the model's output.",
    tags: ["sales"],
    needs: texts.modelNeeds,
    definition: `inputs:
  type: object
  properties:
    since: { type: string, format: date, default: "2026-06-01" }
steps:
  - id: revenue
    type: sql
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: words
    type: model
    model: writer
    system: Write for busy readers. Use only facts from the data.
    prompt: |
      Summarize the revenue by region since \${{ inputs.since }} for a manager, from these rows only:
      \${{ steps.revenue.rows }}
    output_schema:
      type: object
      properties:
        headline: { type: string, description: At most eight words. }
        text: { type: string, description: Two sentences. }
      required: [headline, text]
      additionalProperties: false
    temperature: 0
    retry: { attempts: 3, initial: 5s }
output: "\${{ steps.words.object }}"
`,
  },
  {
    id: "approval",
    title: texts.approvalTitle,
    about: texts.approvalAbout,
    name: "Ask for approval",
    description:
      "A person reviews the query result, fills in a form and decides. The next step depends on the decision.",
    tags: ["approval"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    region:
      type: string
      enum: [north, east, south, west]
      default: north
    discount:
      type: integer
      minimum: 1
      maximum: 50
      default: 10
      description: In percent.
steps:
  - id: customers
    type: sql
    database: shop
    query: SELECT id, name FROM customers WHERE region = :region ORDER BY name
    params: { region: "\${{ inputs.region }}" }
  - id: approve
    type: approval
    message: Give \${{ steps.customers.row_count }} customers in the \${{ inputs.region }} a discount of \${{ inputs.discount }} %?
    form:
      type: object
      properties:
        budget: { type: string, title: Budget, enum: [sales, marketing] }
        until: { type: string, format: date, title: Valid until }
        note: { type: string, title: Note for the team, maxLength: 1000 }
      required: [budget]
    timeout: 2d
  - id: granted
    type: set
    if: steps.approve.approved
    for_each: steps.customers.rows
    values:
      customer: "\${{ item.name }}"
      discount: "\${{ inputs.discount }}"
output:
  approved: "\${{ steps.approve.approved }}"
  customers: "\${{ (steps.granted.items ?? []).map(i, i.customer) }}"
`,
  },
  {
    id: "notify",
    title: texts.notifyTitle,
    about: texts.notifyAbout,
    name: "Notify the team",
    description:
      "Posts to a webhook with a secret, retries on failure, and sends an e-mail if every attempt fails.",
    tags: ["notify"],
    needs: texts.notifyNeeds,
    definition: `inputs:
  type: object
  properties:
    text: { type: string, default: The numbers are in., maxLength: 2000 }
  required: [text]
steps:
  - id: post
    type: http
    method: POST
    url: https://hooks.example.com/team
    headers: { Authorization: { secret: team_hook, prefix: "Bearer " } }
    body: { text: "\${{ inputs.text }}" }
    timeout: 10s
    retry: { attempts: 4, initial: 2s, on: [http_status, http_failed, timeout] }
    on_error: continue
  - id: mail
    type: email
    if: steps.post.error != null
    to: [team@example.com]
    subject: Millrace could not post to the team
    text: |
      \${{ inputs.text }}

      (The webhook failed: \${{ steps.post.error }})
    retry: { attempts: 3, initial: 10s }
output:
  posted: "\${{ steps.post.error == null }}"
`,
  },
  {
    id: "webhook",
    title: texts.webhookTitle,
    about: texts.webhookAbout,
    name: "New orders by webhook",
    description:
      "Starts a run for each order that a shop sends to the URL of the webhook, once, however often it is sent.",
    tags: ["sales", "webhook"],
    needs: texts.webhookNeeds,
    definition: `inputs:
  type: object
  properties:
    order: { type: string, maxLength: 100 }
    customer: { type: integer }
    amount: { type: number, minimum: 0 }
  required: [order, customer, amount]
triggers:
  - id: ordered
    type: webhook
    description: The page of the workflow shows its URL once it is published.
    signature: { scheme: shared_secret, secret: orders_hook }
    payload:
      type: object
      properties:
        type: { type: string }
        order: { type: string }
        customer: { type: integer }
        amount: { type: number }
      required: [type, order, customer, amount]
    if: event.body.type == "order.created"
    inputs:
      order: "\${{ event.body.order }}"
      customer: "\${{ event.body.customer }}"
      amount: "\${{ event.body.amount }}"
    deduplicate: event.body.order
steps:
  - id: customer
    type: sql
    database: shop
    query: SELECT name, region FROM customers WHERE id = :id
    params: { id: "\${{ inputs.customer }}" }
  - id: known
    type: assert
    that: steps.customer.row_count == 1
    message: There is no customer \${{ inputs.customer }}.
output:
  order: "\${{ inputs.order }}"
  customer: "\${{ steps.customer.rows[0].name }}"
  is_large: "\${{ inputs.amount >= 1000 }}"
examples:
  - name: A large order
    inputs: { order: A-17, customer: 1, amount: 1200 }
    assert: [output.is_large]
`,
  },
  {
    id: "side-by-side",
    title: texts.joinTitle,
    about: texts.joinAbout,
    name: "Join two queries",
    description: "Runs two queries in parallel and joins their rows in memory, even across databases.",
    tags: ["sales", "customers"],
    needs: "",
    definition: `steps:
  - id: spent
    type: sql
    needs: []
    database: shop
    query: |
      SELECT o.customer_id, ROUND(SUM(i.quantity * i.price), 2) AS spent
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid'
      GROUP BY o.customer_id
  - id: customers
    type: sql
    needs: []
    database: shop
    query: SELECT id, name, region FROM customers
  - id: joined
    type: sql
    description: An in-memory DuckDB whose tables are the rows of earlier steps.
    needs: [spent, customers]
    database: scratch
    tables:
      spent: "\${{ steps.spent.rows }}"
      customers: "\${{ steps.customers.rows }}"
    query: |
      SELECT c.name, c.region, CAST(s.spent AS DOUBLE) AS spent
      FROM customers c JOIN spent s ON s.customer_id = c.id
      ORDER BY spent DESC
      LIMIT 10
output: "\${{ steps.joined.rows }}"
`,
  },
];

/** The smallest definition that runs, as a starting point in the editor. */
export const BLANK_TEMPLATE: Template = {
  id: "blank",
  title: texts.blankTitle,
  about: texts.blankAbout,
  name: "",
  description: "",
  tags: [],
  needs: "",
  definition: `steps:
  - id: hello
    type: set
    values: { text: Good morning }
output: "\${{ steps.hello.text }}"
`,
};

// SPDX-License-Identifier: Apache-2.0
// C++: a template of two types, a lambda and a namespace, to see names and
// lines as a C++ programmer writes them. Usage: shapes MILLISECONDS
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace shapes
{
template <typename T> __attribute__((noinline)) T area(const std::vector<T> &sides)
{
	T sum = 1;

	for (const T &side : sides)
		sum = sum * side + side; // area
	return sum;
}

struct circle {
	double radius;
	__attribute__((noinline)) double grow(int n)
	{
		for (int i = 0; i < n; i++)
			radius = radius * 1.0000001 + 1e-9; // grow
		return radius;
	}
};
} // namespace shapes

int main(int argc, char **argv)
{
	std::vector<double> reals(20000, 1.5);
	std::vector<uint64_t> wholes(20000, 3);
	shapes::circle circle = {1};
	volatile double sink = 0;
	clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 1000) * (CLOCKS_PER_SEC / 1000);

	while (clock() < end) {
		sink = sink + shapes::area(reals);
		sink = sink + static_cast<double>(shapes::area(wholes));
		sink = sink + circle.grow(20000);
	}
	return 0;
}
